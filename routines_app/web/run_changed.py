"""What changed of a routine between the last run in which it worked and one in which it didn't."""

from dataclasses import dataclass
from datetime import datetime

from routines_app.configure.content import content_from_json
from routines_app.models import Agent, RoutineVersion, Run
from routines_app.rules.status import RunStatus, Shape
from routines_app.web.dates import moment_words
from routines_app.web.form_controls import Roster
from routines_app.web.progress import CHECK_FAILURES
from routines_app.web.run_words import shape_of
from routines_app.web.versions import differences

_COMPLETED = [status for status in RunStatus if status.completed]
CHECK = "Check"


@dataclass(frozen=True)
class Difference:
    """One thing that was set otherwise. `is_check`: it is the check, whose texts are commands."""

    name: str
    before: str
    after: str
    is_check: bool


@dataclass(frozen=True)
class Changed:
    """`words` say who changed it and when.

    `earlier` is the check to which one may go back now, None when the check is the same or has
    been changed since; `broken` the one that may be put back when that was done, else None.
    """

    words: str
    differences: list[Difference]
    earlier: str | None
    broken: str | None


def changed_since_it_worked(run: Run, now: datetime, zone: str) -> Changed | None:
    """How the routine differs from the last run that worked; None when it doesn't, or none did."""
    if shape_of(run) is not Shape.POINT or run.cause == "ours":
        return None
    good = last_that_worked(run)
    if good is None or run.version is None or good.version is None:
        return None
    versions = {
        each.number: each
        for each in run.routine.versions.select_related("changed_by").filter(
            number__gte=good.version, number__lte=run.version
        )
    }
    found = _differences(run, good, versions)
    if not found:
        return None
    made = [each for number, each in sorted(versions.items()) if number > good.version]
    words = _who(made, run, found, now, zone)
    if run.status not in CHECK_FAILURES or not any(each.is_check for each in found):
        return Changed(words, found, None, None)
    before, broken = str(good.snapshot.get("check", "")), str(run.snapshot.get("check", ""))
    check = run.routine.check_command
    return Changed(
        words, found, before if check == broken else None, broken if check == before else None
    )


def last_that_worked(run: Run) -> Run | None:
    """The last run before it that got past what failed here; None when there is none."""
    earlier = Run.objects.filter(routine_id=run.routine_id, number__lt=run.number)
    if run.status in CHECK_FAILURES:
        earlier = earlier.exclude(turn_at=None) | earlier.filter(status=RunStatus.NOTHING_TO_DO)
    else:
        earlier = earlier.filter(status__in=_COMPLETED)
    return earlier.order_by("-number").first()


def _differences(run: Run, good: Run, versions: dict[int, RoutineVersion]) -> list[Difference]:
    """By the two versions; by what the runs ran with where a version isn't kept."""
    older, newer = versions.get(good.version or 0), versions.get(run.version or 0)
    if older is None or newer is None or not (older.content and newer.content):
        before, after = str(good.snapshot.get("check", "")), str(run.snapshot.get("check", ""))
        return [Difference(CHECK, before, after, True)] if before != after else []
    roster = Roster(
        agents=list(Agent.objects.filter(workspace=run.workspace)),
        machines=list(run.workspace.machines.all()),
    )
    pairs = differences(content_from_json(older.content), content_from_json(newer.content), roster)
    return [Difference(name, was, now, name == CHECK) for name, was, now in pairs]


def _who(
    made: list[RoutineVersion], run: Run, found: list[Difference], now: datetime, zone: str
) -> str:
    what = "the check" if [each.name for each in found] == [CHECK] else "it"
    if not made:
        return f"{what[:1].upper()}{what[1:]} was edited since it last worked."
    last = made[-1]
    who, when = last.changed_by or "Somebody", moment_words(last.changed_at, now, zone)
    gap = _before(run, last.changed_at)
    people = {str(each.changed_by or "somebody") for each in made}
    others = " Others changed it too." if len(people) > 1 else ""
    return f"{who} edited {what} {when}{gap}.{others}"


def _before(run: Run, at: datetime) -> str:
    """How long before the run that was, when it was close."""
    minutes = int((run.queued_at - at).total_seconds() // 60)
    if not 0 <= minutes < 60:
        return ""
    if minutes == 0:
        return ", less than a minute before"
    return f", {minutes} minute{'' if minutes == 1 else 's'} before"
