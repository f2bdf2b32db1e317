"""What changed of a routine between the last run in which it worked and one in which it didn't."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from machines.models import Machine
from routines_app.configure.content import content_from_json
from routines_app.models import Agent, RoutineVersion, Run
from routines_app.rules.status import RunStatus, Shape
from routines_app.web.dates import moment_words
from routines_app.web.form_controls import Roster
from routines_app.web.progress import CHECK_FAILURES
from routines_app.web.run_past import PastRun
from routines_app.web.run_words import shape_of
from routines_app.web.versions import differences, with_app_names

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


def changed_since_it_worked(
    run: Run, past: Sequence[PastRun], now: datetime, zone: str
) -> Changed | None:
    """How the routine differs from the last run that worked; None when it doesn't, or none did.
    `past` are the runs before it, the newest first."""
    if shape_of(run) is not Shape.POINT or run.cause == "ours":
        return None
    good = last_that_worked(run, past)
    if good is None or run.version is None or good.version in (None, run.version):
        return None
    versions = {
        each.number: each
        for each in run.routine.versions.select_related("changed_by").filter(
            number__gte=good.version, number__lte=run.version
        )
    }
    older, newer = versions.get(good.version), versions.get(run.version)
    found = _differences(run, older, newer) if older and newer else []
    if not found:
        return None
    made = [each for number, each in sorted(versions.items()) if number > good.version]
    words = _who(made, run, found, now, zone)
    if run.status not in CHECK_FAILURES or not any(each.is_check for each in found):
        return Changed(words, found, None, None)
    check_before = next(each for each in found if each.is_check)
    before, broken = check_before.before, check_before.after
    check = run.routine.check_command
    return Changed(
        words, found, before if check == broken else None, broken if check == before else None
    )


def last_that_worked(run: Run, past: Sequence[PastRun]) -> PastRun | None:
    """The last run before it that got past what failed here; None when there is none."""
    check = run.status in CHECK_FAILURES
    for each in past:
        got_past = each.turn_at is not None or each.status == RunStatus.NOTHING_TO_DO
        if got_past if check else each.completed:
            return each
    return None


def _differences(run: Run, older: RoutineVersion, newer: RoutineVersion) -> list[Difference]:
    before, after = content_from_json(older.content), content_from_json(newer.content)
    roster = Roster(agents=[], machines=[])
    if before.agent_id != after.agent_id or before.machine_id != after.machine_id:
        roster = Roster(
            agents=list(Agent.objects.filter(workspace_id=run.workspace_id)),
            machines=list(Machine.objects.filter(workspace_id=run.workspace_id)),
        )
    if before.apps != after.apps:
        roster = with_app_names(roster, run.workspace, [before, after])
    found = [
        Difference(name, was, now, False)
        for name, was, now in differences(before, after, roster)
        if name != CHECK
    ]
    if before.check_command != after.check_command:
        found.insert(0, Difference(CHECK, before.check_command, after.check_command, True))
    return found


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
