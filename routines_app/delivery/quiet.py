"""Ringing once for a routine from which nothing useful has come for too long."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from foundation import database_clock
from routines_app.delivery.attention import quiet_notices
from routines_app.models import Notice
from routines_app.models.notice import QUIET
from routines_app.rules.occurrence import occurrence_key
from routines_app.rules.quiet import (
    AT_LEAST,
    Ended,
    Quiet,
    QuietFacts,
    as_facts,
    too_quiet,
)
from routines_app.rules.status import RunStatus

FRESH = timedelta(days=1)  # how old the figures of a notice may become

# Those that may be quiet by their time alone. Once and when-asked schedules owe nothing.
_CANDIDATES = """
SELECT r.id, r.workspace_id, r.quiet_days, GREATEST(s.started_at, t.heard_at)
FROM routines_app_routine r
JOIN accounts_workspace w
  ON w.id = r.workspace_id AND w.paused_at IS NULL AND w.deleted_at IS NULL
JOIN routines_app_onspan s ON s.routine_id = r.id AND s.ended_at IS NULL
LEFT JOIN routines_app_routinetotals t ON t.routine_id = r.id
WHERE r.enabled AND r.deleted_at IS NULL AND r.quiet_days IS DISTINCT FROM 0
  AND r.schedule_kind NOT IN ('once', 'when_asked')
  AND GREATEST(s.started_at, t.heard_at)
      <= %(now)s - COALESCE(make_interval(days => r.quiet_days), %(least)s)
"""

_ENDED = """
SELECT q.id, n.status, f.schedule_version IS NOT NULL, sum(f.covers_count)
FROM unnest(%(ids)s::bigint[], %(since)s::timestamptz[]) AS q(id, since)
JOIN routines_app_run n ON n.routine_id = q.id AND n.finished_at > q.since
JOIN routines_app_fire f ON f.id = n.fire_id
GROUP BY q.id, n.status, f.schedule_version IS NOT NULL
"""


@dataclass(frozen=True)
class _Candidate:
    """A routine that was last heard of so long ago that it may be too quiet."""

    routine_id: int
    workspace_id: int
    days: int | None
    since: datetime


def ring_for_quiet(now: datetime | None = None) -> int:
    """Tell of each routine that has become too quiet, and let rest the notices of those that
    aren't any more; how many rang. It rings once for each time that a routine falls quiet.
    """
    at = now or database_clock.now()
    told = {notice.routine_id: notice for notice in quiet_notices()}
    candidates = _candidates(at)
    known = {
        each.routine_id for each in candidates if _is_fresh(told.get(each.routine_id), each, at)
    }
    asked = [each for each in candidates if each.routine_id not in known]
    ended = _ended(asked)
    rang = 0
    for each in asked:
        quiet = too_quiet(QuietFacts(at, each.since, tuple(ended[each.routine_id]), each.days))
        if quiet is not None:
            known.add(each.routine_id)
            rang += _tell(each, quiet, at)
    over = [notice.pk for routine_id, notice in told.items() if routine_id not in known]
    Notice.objects.filter(pk__in=over).update(needs_someone=False)
    return rang


def _candidates(now: datetime) -> list[_Candidate]:
    with connection.cursor() as cursor:
        values: dict[str, Any] = {"now": now, "least": AT_LEAST}
        cursor.execute(_CANDIDATES, values)
        return [_Candidate(*row) for row in cursor.fetchall()]


def _ended(candidates: Sequence[_Candidate]) -> dict[int, list[Ended]]:
    found: dict[int, list[Ended]] = defaultdict(list)
    if candidates:
        values: dict[str, Any] = {
            "ids": [each.routine_id for each in candidates],
            "since": [each.since for each in candidates],
        }
        with connection.cursor() as cursor:
            cursor.execute(_ENDED, values)
            for routine_id, status, due, count in cursor.fetchall():
                found[routine_id].append(Ended(RunStatus(status), int(count), due))
    return found


def _key(candidate: _Candidate) -> str:
    return f"{QUIET}{candidate.routine_id} {occurrence_key(candidate.since)}"


def _is_fresh(notice: Notice | None, candidate: _Candidate, now: datetime) -> bool:
    """Whether all of this was told a moment ago: then nothing has to be counted again."""
    if notice is None or notice.key != _key(candidate):
        return False
    return now - datetime.fromisoformat(notice.facts["at"]) < FRESH


def _tell(candidate: _Candidate, quiet: Quiet, now: datetime) -> bool:
    """Ring, or bring the figures of what rang already up to now; whether it rang."""
    facts = as_facts(quiet, now)
    notice, made = Notice.objects.get_or_create(
        workspace_id=candidate.workspace_id,
        key=_key(candidate),
        defaults={
            "routine_id": candidate.routine_id,
            "facts": facts,
            "needs_someone": True,
            "rung_at": now,
        },
    )
    if not made:
        Notice.objects.filter(pk=notice.pk).update(facts=facts, needs_someone=True)
    return made
