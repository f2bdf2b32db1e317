"""What a schedule owes by now, from its next occurrence on. Pure; the newest may still run."""

from datetime import datetime, timedelta
from functools import lru_cache

from routines_app.rules.cron import compile_cron, earliest
from routines_app.rules.grace import MOST_ROWS, CatchUp, MissedRange, catch_up


@lru_cache(maxsize=2_000)
def due_by(
    next_at: datetime,
    expressions: tuple[str, ...],
    zone: str,
    now: datetime,
    after: datetime,
    grace: timedelta | None,
) -> tuple[CatchUp, datetime | None]:
    """What is due from `next_at` to `now`, judged, and what comes after `after`.

    The same for all routines of one schedule in one batch, so it is worked out once.
    """
    crons = [compile_cron(text) for text in expressions]
    following = earliest(crons, after, zone)
    due = [next_at]
    while (coming := earliest(crons, due[-1], zone)) is not None and coming <= now:
        due.append(coming)
        if len(due) > 2 * MOST_ROWS:
            return _very_many(due, expressions, zone, now, grace, following), following
    return catch_up(due, following, now, grace), following


def _very_many(
    due: list[datetime],
    expressions: tuple[str, ...],
    zone: str,
    now: datetime,
    grace: timedelta | None,
    following: datetime | None,
) -> CatchUp:
    """Past 2,000 only the number and the newest are needed, so nothing else is kept."""
    crons = [compile_cron(text) for text in expressions]
    first, newest, before, count = due[0], due[-1], due[-2], len(due)
    while (coming := earliest(crons, newest, zone)) is not None and coming <= now:
        before, newest, count = newest, coming, count + 1
    judged = catch_up([newest], following, now, grace)
    if judged.fires is None:
        return CatchUp(None, [MissedRange(first, newest, count)])
    return CatchUp(newest, [MissedRange(first, before, count - 1)])
