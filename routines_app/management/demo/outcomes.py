"""How the demo's runs end: the usual ways, and for each other status a run that ended so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from random import Random
from typing import Any

from routines_app.agents.turn import StepKind
from routines_app.management.demo import cast, transcript, works
from routines_app.management.demo.cast import Part
from routines_app.management.demo.papers import File, page
from routines_app.management.demo.transcript import Line, Work
from routines_app.rules.status import RunStatus


@dataclass(frozen=True)
class Act:
    """Something a person does around a run, so many seconds from when it was due.

    `what`: edit, off, on, pause, resume or delete; `changes` are an edit's.
    """

    what: str
    after: float
    guest: bool = True
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Check:
    """How a check ended; it found something when `code` is 0."""

    code: int
    output: str = ""
    seconds: float = 0.3


@dataclass(frozen=True)
class Outcome:
    """One run's course. A refusal or a fault before it began has `begins` False.

    `lag` is seconds in the queue, `wake` and `seconds` those of the waking and of the turn; `acts`
    happen before it is asked for (below 0) or while it waits. With `at_the_door` admission itself
    finds the reason.
    """

    status: RunStatus
    facts: Mapping[str, object] = field(default_factory=dict)
    begins: bool = True
    at_the_door: bool = False
    lag: float = 0.4
    wake: float = 0.6
    check: Check | None = None
    seconds: float = 0.0
    work: Work = field(default_factory=lambda: Work(()))
    ours: bool = False
    acts: Sequence[Act] = ()
    later: Sequence[Act] = ()


def usual(part: Part, rng: Random, work: Work, due: datetime) -> Outcome:
    """An ending of a day on which nothing goes wrong."""
    lag, wake = rng.uniform(0.2, 0.9), rng.choice((0.02, 0.4, 0.7, 1.6, 2.4))
    seconds = part.seconds * rng.uniform(0.7, 1.4)
    if part.check and rng.random() < part.quiet:
        check = Check(1, "", rng.uniform(0.05, 1.4))
        facts = {"exit_code": 1, "check_seconds": round(check.seconds, 3)}
        return Outcome(RunStatus.NOTHING_TO_DO, facts, lag=lag, wake=wake, check=check)
    if not part.check and part.agent != "Script" and rng.random() < part.quiet:
        work, seconds = works.quiet(rng, due), seconds * 0.4
    status = RunStatus.DONE_CHANGED if work.changed else RunStatus.DONE_UNCHANGED
    check_ended = Check(0, work.check_output, rng.uniform(0.1, 1.2)) if part.check else None
    return Outcome(status, lag=lag, wake=wake, check=check_ended, seconds=seconds, work=work)


def special(part: Part, place: int, work: Work) -> Outcome | None:
    """The ending of the run that is `place` occurrences before the newest; None: a usual one."""
    found = _SPECIAL.get(part.name, {}).get(place)
    if found is None:
        return None
    if not found.begins or (found.check is not None and found.check.code):
        return found
    check = Check(0, work.check_output, 0.4) if part.check else None
    if found.work.lines:
        return replace(found, check=check)
    lines = work.lines[:3]
    if found.status is RunStatus.FAIL_RESTART:
        lines += (transcript.wrote_perhaps("state.md"),)
    cut = Work(lines)
    return replace(found, work=cut, check=check)


def _refusal(status: RunStatus, facts: Mapping[str, object], **more: Any) -> Outcome:
    return Outcome(status, facts, begins=False, **more)


def _bad_check(status: RunStatus, code: int, last: str, **more: Any) -> Outcome:
    seconds = more.pop("took", 0.06)
    facts: dict[str, object] = {"exit_code": code, "check_seconds": seconds, "last_line": last}
    extra = more.pop("facts", {})
    return Outcome(status, facts | extra, check=Check(code, last + "\n", seconds), **more)


_NOTE = StepKind.NOTE
_ATTACHMENT = Work(
    (
        transcript.read("state.md", 11, read=4200, written=120),
        transcript.ran(
            "python3 tools/mail.py --since last", "23 messages", 4.0, read=5100, written=240
        ),
        transcript.wrote("draft.md", 6, read=5400, written=180),
        transcript.said(
            "One letter has a report attached. It may change a date, so it is read too."
        ),
        transcript.read("mail/4711/annual-report.pdf", 9_840, read=61_000, written=210),
        transcript.read("mail/4711/annual-report.pdf", 9_840, read=102_000, written=260),
    ),
    body="Read so far: 22 messages, none of which needs an answer today.\n",
    files=(File("draft.md", page("Read so far", 6, ["Nothing that needs an answer today."])),),
)
_NO_ANSWER = Work(
    (
        transcript.read("state.md", 11, read=4200, written=120),
        Line(_NOTE, "The model didn’t answer. Trying again in 2 seconds.", seconds=20),
        Line(_NOTE, "The model didn’t answer. Trying again in 8 seconds.", seconds=25),
        Line(_NOTE, "The model didn’t answer after three tries.", seconds=30),
    ),
)
_CRAWLED = "GET /\n302 to /sign-in\n0 pages"
_SIGN_IN = Work(
    (
        transcript.read("state.md", 7, read=3500, written=90),
        transcript.ran("python3 crawl.py", _CRAWLED, 9.0, 1, read=4300, written=210),
        transcript.said(
            "Each page leads to a sign-in, so there is nothing to crawl.", read=4700, written=90
        ),
    ),
)
_SIGN_IN_REASON = {"reason": "the site asks for a sign-in before it shows a page"}
_FULL = Work(
    (
        transcript.ran(
            "bash script.sh",
            "dump: catalogue.sql.zst\ndump.sh: line 14: write error: No space left on device\n",
            5.0,
            2,
        ),
    ),
)
_CHECK = cast.RESERVATIONS.check
_S = RunStatus

_SPECIAL: dict[str, dict[int, Outcome]] = {
    cast.BRIEFING.name: {
        2: Outcome(_S.STOP_COST, {"doing": "reading mail/4711/annual-report.pdf",
                                  "next_worst": 340_000}, seconds=402, work=_ATTACHMENT),
        4: Outcome(_S.FAIL_MODEL, {"variant": "didn’t answer after three tries"}, seconds=182,
                   work=_NO_ANSWER),
        7: Outcome(_S.FAIL_EMPTY, {"variant": "gave an empty answer"}, seconds=71),
        9: Outcome(_S.FAIL_AGENT, {"reason": "the mail archive asks for a new password"},
                   seconds=44),
        11: Outcome(_S.STOP_TIME, {"doing": "reading mail/4523.eml", "variant": "seconds",
                                   "limit_seconds": 900}, seconds=900),
        13: _refusal(_S.FAIL_PLATFORM, {}, ours=True),
        15: _refusal(_S.SKIP_BUDGET, {"kind": "budget", "left": 0, "limit": 20_000_000,
                                      "amount": 500_000}),
        17: _refusal(_S.SKIP_NO_MODEL, {"agent": "Reader", "reason": "none is connected"}),
        19: Outcome(_S.FAIL_RESTART, {}, seconds=96, ours=True),
    },
    cast.RESERVATIONS.name: {
        21: _refusal(_S.SKIP_OVERLAP, {}, lag=2),
        22: replace(Outcome(_S.DONE_CHANGED), lag=840, seconds=1_130),
        45: _refusal(_S.SKIP_PAUSED, {}, at_the_door=True, lag=95,
                     acts=(Act("pause", 30),), later=(Act("resume", 240),)),
        60: _bad_check(_S.FAIL_CHECK_CRASH, 137, "Killed"),
        70: _refusal(_S.SKIP_WAITED, {"waited": 1_863.0}, lag=1_863),
        99: _bad_check(_S.FAIL_CHECK_MISSING, 127, "bash: line 1: wcl: command not found",
                       facts={"command": "wcl"},
                       later=(Act("edit", 700, changes={"check_command": _CHECK}),)),
        100: _bad_check(_S.FAIL_CHECK_MISSING, 127, "bash: line 1: wcl: command not found",
                        facts={"command": "wcl"},
                        acts=(Act("edit", -800, False, {
                            "check_command": "wcl -l inbox/new.csv | grep -v '^0'"}),)),
        130: _refusal(_S.SKIP_OFF, {}, at_the_door=True, lag=140, acts=(Act("off", 60, False),),
                      later=(Act("on", 900),)),
    },
    cast.INTERLIBRARY.name: {
        4: _bad_check(_S.FAIL_CHECK_TIMEOUT, 137, "waiting for the union catalogue…",
                      took=60.0, facts={"limit_seconds": 60.0}),
        10: _bad_check(_S.FAIL_CHECK_DENIED, 126,
                       "bash: line 1: tools/fetch.py: Permission denied"),
        40: _refusal(_S.SKIP_PLAN_QUOTA, {"plan": "Free", "allowed": 1}),
        44: _refusal(_S.SKIP_PLAN_COUNT, {"plan": "Pro", "allowed": 10, "on": 12}),
        48: _refusal(_S.SKIP_TOO_FREQUENT, {"plan": "Pro", "since_last": 300.0,
                                            "smallest_gap": 900.0}),
    },
    cast.BACKUP_PART.name: {
        0: _refusal(_S.SKIP_WAKE_TIMEOUT, {
            "machine": cast.STACKS, "reason": "It didn’t wake within 3 minutes."},
            ours=True, lag=181),
        3: Outcome(_S.FAIL_SCRIPT, {"exit_code": 2, "last_line":
                   "dump.sh: line 14: write error: No space left on device"}, seconds=5,
                   work=_FULL),
        11: Outcome(_S.FAIL_MACHINE, {"variant": "memory", "doing": "running bash script.sh"},
                    seconds=8),
        14: _refusal(_S.SKIP_WAKE_REFUSED, {
            "machine": cast.STACKS,
            "reason": "As many machines are awake as the plan allows. Stop one, or change plan."}),
    },
    cast.OPENING.name: {
        3: _refusal(_S.SKIP_MACHINE_GONE, {"machine": "cellar"}),
    },
    cast.LINKS.name: {
        **{place: Outcome(_S.FAIL_AGENT, _SIGN_IN_REASON, seconds=19, work=_SIGN_IN)
           for place in range(5)},
        20: _refusal(_S.SKIP_AUTO_OFF, {}, at_the_door=True, later=(Act("on", 14_000, False),)),
        **{place: Outcome(_S.FAIL_MODEL, {"variant": "said no", "reason":
           "the account behind this key has no credit"}, seconds=6, work=Work(_NO_ANSWER.lines[:1]))
           for place in range(21, 26)},
    },
}  # fmt: skip


def ends_at_the_door(outcome: Outcome) -> bool:
    """Whether the routine has to be off or paused for it, so that its schedule isn't moved on."""
    return outcome.status is RunStatus.SKIP_AUTO_OFF
