"""Taking a fire: compare-and-set with a lease and a random token that guards every later write."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from foundation import clock
from foundation.failpoints import failpoint
from foundation.statements import send
from routines_app.models import Fire, Run
from routines_app.rules.status import LIVE_STATUSES, RunStatus

LEASE = timedelta(seconds=settings.LEASE_SECONDS)


@dataclass(frozen=True)
class Claim:
    """A fire that this worker holds until its lease ends; `at` is when it took it."""

    fire_id: int
    run_id: int
    token: uuid.UUID
    at: datetime


# Two statements: a statement sees only what had committed when it began, so the machine is locked
# first, and the second statement then sees the claim of whoever held that lock before. Both are
# sent at once, and so are one transaction without BEGIN and COMMIT of its own: at a busy moment
# each answer that is waited for costs more than the statement.
#
# The commit doesn't wait for the disk: a claim that a crash of the database loses is a fire that
# waits again, and its token, being random, can't come twice. What begins effects is durable, and
# with it all that was committed before.
_LOCK_MACHINE = """
SELECT m.id, set_config('synchronous_commit', 'off', true)
FROM machines_machine m JOIN routines_app_run r ON r.machine_id = m.id
WHERE r.fire_id = %(fire)s FOR NO KEY UPDATE OF m
"""

# A fire whose machine is busy with another routine's run is passed over: it stays queued in its
# place. Its own routine's run doesn't hold it back: admission then says that it overlaps.
_CLAIM = """
WITH wanted AS (
    SELECT f.id, r.id AS run_id, r.machine_id, r.routine_id,
           COALESCE(%(now)s::timestamptz, clock_timestamp() + %(offset)s) AS at
    FROM routines_app_fire f JOIN routines_app_run r ON r.fire_id = f.id
    WHERE f.id = %(fire)s AND f.closed_at IS NULL AND f.claim_token IS NULL
      AND r.status = 'queued'
    FOR UPDATE OF f SKIP LOCKED
),
taken AS (
    UPDATE routines_app_fire f
    SET claimed_by = %(worker)s, claim_token = %(token)s, attempts = f.attempts + 1,
        lease_until = w.at + %(lease)s
    FROM wanted w
    WHERE f.id = w.id
      AND NOT EXISTS (
        SELECT 1 FROM routines_app_fire bf JOIN routines_app_run busy ON busy.fire_id = bf.id
        WHERE busy.machine_id = w.machine_id AND busy.routine_id <> w.routine_id
          AND bf.closed_at IS NULL AND bf.claim_token IS NOT NULL)
    RETURNING w.run_id, f.attempts, w.at
)
UPDATE routines_app_run r SET attempt = t.attempts FROM taken t WHERE r.id = t.run_id
RETURNING r.id, t.at
"""


def claim_fire(fire_id: int, worker: str, now: datetime | None = None) -> Claim | None:
    """Take this fire, or None when somebody has it, it is over, or its machine is busy.

    `now` None is the database's own clock, read where the lease is written.
    """
    token = uuid.uuid4()
    values: dict[str, Any] = {
        "fire": fire_id,
        "worker": worker,
        "token": token,
        "lease": LEASE,
        "now": now,
        "offset": timedelta(seconds=clock.offset_seconds()),
    }
    failpoint("claim.before")
    rows = send(_CLAIM, values, first=_LOCK_MACHINE)
    if not rows:
        return None
    failpoint("claim.after")
    return Claim(fire_id, int(rows[0][0]), token, rows[0][1])


def renew_lease(claim: Claim, now: datetime) -> bool:
    """Hold on for another lease; False when the claim is lost and the work must end."""
    return (
        Fire.objects.filter(
            pk=claim.fire_id, claim_token=claim.token, closed_at__isnull=True
        ).update(lease_until=now + LEASE)
        == 1
    )


def requeue_fire(claim: Claim) -> bool:
    """Give back a fire whose effects haven't begun; False when they have, or the claim is lost."""
    with transaction.atomic():
        Fire.objects.select_for_update().filter(pk=claim.fire_id).first()
        back = Run.objects.filter(
            Q(status__in=LIVE_STATUSES) | Q(status=RunStatus.QUEUED),
            pk=claim.run_id,
            effects_begun_at__isnull=True,
            fire__claim_token=claim.token,
        ).update(status=RunStatus.QUEUED, waking_at=None, awake_at=None)
        if back != 1:
            return False
        Fire.objects.filter(pk=claim.fire_id, claim_token=claim.token).update(
            claim_token=None, lease_until=None, claimed_by=""
        )
    return True
