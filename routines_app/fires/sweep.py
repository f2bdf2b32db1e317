"""The sweep: fires whose doorbell was lost are rung for again."""

from datetime import timedelta

from django.conf import settings
from django.db import connection

from foundation import database_clock
from routines_app.fires.beats import beat
from routines_app.fires.doorbell import ring_for_fires

PATIENCE = timedelta(seconds=settings.SWEEP_SECONDS)
BATCH = 1_000

# One fire a machine is enough: the others wait for it, and are rung for when it ends.
_WAITING = """
SELECT id FROM (
    SELECT DISTINCT ON (COALESCE(r.machine_id, -f.id)) f.id, f.due_at
    FROM routines_app_fire f JOIN routines_app_run r ON r.fire_id = f.id
    WHERE f.closed_at IS NULL AND f.claim_token IS NULL AND f.requested_at < %s
      AND NOT EXISTS (
        SELECT 1 FROM routines_app_run b JOIN routines_app_fire bf ON bf.id = b.fire_id
        WHERE b.machine_id = r.machine_id AND bf.closed_at IS NULL
          AND bf.claim_token IS NOT NULL)
    ORDER BY COALESCE(r.machine_id, -f.id), f.due_at, f.id
) first ORDER BY due_at LIMIT %s
"""


def sweep() -> int:
    """Ring again for what has waited a while though its machine is free; how many."""
    now = database_clock.now()
    with connection.cursor() as cursor:
        cursor.execute(_WAITING, [now - PATIENCE, BATCH])
        waiting = [int(row[0]) for row in cursor.fetchall()]
    ring_for_fires(waiting)
    beat("sweep", database_clock.now())
    return len(waiting)
