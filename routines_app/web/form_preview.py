"""What stands beside the sentence while it is written; it comes together, so it never disagrees."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal, InvalidOperation

from routines_app.configure.content import FieldError
from routines_app.rules.kinds import ScheduleKind
from routines_app.rules.schedule import Schedule, crons, read_back, validate
from routines_app.web.coming import Coming, Estimate, estimate, next_five, next_line, place_of
from routines_app.web.form_cron import Box, Remark, boxes_of, remarks_of
from routines_app.web.form_read import read_schedule
from routines_app.web.form_state import FormState

MICRO = 1_000_000


@dataclass(frozen=True)
class Preview:
    """The read-back, the next five and the estimate; or what keeps them from being known."""

    said: str = ""
    next: str = ""
    place: str = ""
    fires: list[Coming] = field(default_factory=list)
    estimate: Estimate | None = None
    boxes: list[tuple[Box, ...]] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    problems: list[FieldError] = field(default_factory=list)


@dataclass(frozen=True)
class Usual:
    """What is known of the routine's cost: `free` for a script; `typical` micro-dollars a run."""

    free: bool
    typical: int | None = None
    seen: int = 0


def preview_of(state: FormState, now: datetime, viewer: str, usual: Usual) -> Preview:
    """The preview of what is typed."""
    read = read_schedule(state)
    if read.schedule is None:
        return Preview(problems=read.errors)
    wrong = validate(read.schedule, now)
    if wrong:
        return Preview(problems=[FieldError(e.field, e.sentence) for e in wrong])
    schedule = read.schedule
    said = Preview(
        said=read_back(schedule, now.date()),
        next=next_line(schedule, now),
        place=place_of(schedule),
        fires=next_five(schedule, now, viewer),
        estimate=_estimate(state, schedule, now, usual),
    )
    return _with_cron(said, schedule) if schedule.kind is ScheduleKind.CRON else said


def _with_cron(said: Preview, schedule: Schedule) -> Preview:
    """A custom schedule's boxes, and what is remarked beside it."""
    compiled = crons(schedule)
    return replace(
        said,
        boxes=[boxes_of(cron) for cron in compiled],
        remarks=remarks_of(compiled, schedule.zone),
    )


def _estimate(state: FormState, schedule: Schedule, now: datetime, usual: Usual) -> Estimate | None:
    try:
        cap = Decimal(state.cap.strip().removeprefix("$"))
    except InvalidOperation:
        return None
    if not cap.is_finite() or not 0 <= cap <= MICRO:
        return None
    return estimate(
        schedule,
        int(cap * MICRO),
        now,
        free=usual.free,
        typical=usual.typical,
        seen=usual.seen,
    )
