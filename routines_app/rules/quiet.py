"""Whether a routine has been quiet for too long: it keeps time, nothing fails, and nothing useful
comes of it either.

Useful is a run that brought something. A failure is told by itself, so the count begins anew after
it, as it does when the routine is turned on or its schedule is changed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from routines_app.rules.said import Act, Sentence
from routines_app.rules.status import RunStatus

DUE_TIMES = 10  # how often in a row nothing useful may come, unless its owner says how long
AT_LEAST = timedelta(days=1)
"""However often it is due: a look every five minutes is there to find nothing for an hour."""

# What people decided themselves is no sign of anything.
_DECIDED = (
    RunStatus.SKIP_OFF,
    RunStatus.SKIP_PAUSED,
    RunStatus.SKIP_CHANGED,
    RunStatus.SKIP_SUPERSEDED,
    RunStatus.STOP_PERSON,
    RunStatus.STOP_DELETED,
)


@dataclass(frozen=True)
class Ended:
    """Runs that ended alike: `count` of them, `due` when the schedule asked for them."""

    status: RunStatus
    count: int = 1
    due: bool = True


@dataclass(frozen=True)
class QuietFacts:
    """What is known of one routine that is on. `since` is when it was last heard of: a run that
    was useful or failed, or the moment from which its schedule counts. `ended` are the runs since.

    `days` is what its owner allows; None: ten due times, 0: it may be quiet for ever.
    """

    now: datetime
    since: datetime
    ended: tuple[Ended, ...]
    days: int | None = None


@dataclass(frozen=True)
class Quiet:
    """Nothing useful for too long. `checks` found nothing to do, `unchanged` turns had nothing to
    report, `skipped` didn't run.
    """

    since: datetime
    checks: int = 0
    unchanged: int = 0
    skipped: int = 0


def heard(status: RunStatus) -> bool:
    """Whether a run that ended so was heard of: it brought something, or it failed.

    >>> heard(RunStatus.DONE_CHANGED), heard(RunStatus.STOP_COST), heard(RunStatus.NOTHING_TO_DO)
    (True, True, False)
    """
    return status is RunStatus.DONE_CHANGED or status.failed


def too_quiet(facts: QuietFacts) -> Quiet | None:
    """What to tell of a routine that has been quiet for too long; None when it hasn't."""
    counted = [each for each in facts.ended if each.status not in _DECIDED]
    due = sum(each.count for each in counted if each.due)
    if facts.days == 0 or not due or any(heard(each.status) for each in counted):
        return None
    gone = facts.now - facts.since
    if facts.days is None:
        if due < DUE_TIMES or gone < AT_LEAST:
            return None
    elif gone < timedelta(days=facts.days):
        return None
    return Quiet(
        facts.since,
        checks=_sum(counted, RunStatus.NOTHING_TO_DO),
        unchanged=_sum(counted, RunStatus.DONE_UNCHANGED),
        skipped=sum(each.count for each in counted if each.status.refused),
    )


def _sum(ended: Iterable[Ended], status: RunStatus) -> int:
    return sum(each.count for each in ended if each.status is status)


def quiet_sentence(quiet: Quiet, now: datetime) -> Sentence:
    """What is said of it: "Nothing useful in 11 days: 9 quiet checks, 2 skipped."."""
    counted = [
        _counted(quiet.checks, "quiet check", "quiet checks"),
        _counted(quiet.unchanged, "with nothing to report", "with nothing to report"),
        _counted(quiet.skipped, "skipped", "skipped"),
    ]
    what = ", ".join(filter(None, counted))
    return Sentence(
        f"Nothing useful in {_length(now - quiet.since)}:",
        f"{what}.",
        "If that is as it should be, say how long it may be quiet.",
        Act("edit_quiet", "Change how long"),
    )


def as_facts(quiet: Quiet, now: datetime) -> dict[str, object]:
    """What a notice keeps of it at `now`."""
    return {
        "since": quiet.since.isoformat(),
        "at": now.isoformat(),
        "checks": quiet.checks,
        "unchanged": quiet.unchanged,
        "skipped": quiet.skipped,
    }


def from_facts(facts: Mapping[str, object]) -> tuple[Quiet, datetime]:
    """What a notice keeps, and as of when. Raises KeyError or ValueError for other facts."""
    counts = [int(str(facts[name])) for name in ("checks", "unchanged", "skipped")]
    since = datetime.fromisoformat(str(facts["since"]))
    return Quiet(since, *counts), datetime.fromisoformat(str(facts["at"]))


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}" if count else ""


def _length(gone: timedelta) -> str:
    if gone < timedelta(days=2):
        return f"{int(gone.total_seconds() // 3600)} hours"
    return f"{gone.days} days"
