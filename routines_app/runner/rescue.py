"""Finding the runs whose runner died: given back when nothing had begun, else interrupted."""

import uuid
from datetime import datetime

import structlog
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Max

from foundation import database_clock
from routines_app.agents.turn import StepKind
from routines_app.fires import Claim, requeue_fire
from routines_app.fires.beats import beat
from routines_app.fires.claim import LEASE
from routines_app.fires.doorbell import ring_for_fires
from routines_app.models import Fire, Run, Step
from routines_app.rules.status import RunStatus
from routines_app.runner.ending import Ending
from routines_app.runner.record import finish

log = structlog.get_logger()

MOST_ATTEMPTS = 3
BATCH = 200


def rescue_dead_runs(*, all_claims: bool = False) -> int:
    """Take every fire whose lease has ended from its runner, and bring it on; how many.

    `all_claims`: whatever the lease says, for a start at which no other runner can be alive.
    """
    now = database_clock.now()
    dead = Fire.objects.filter(closed_at__isnull=True, claim_token__isnull=False)
    if not all_claims:
        dead = dead.filter(lease_until__lt=now)
    rescued = 0
    for fire_id in list(dead.order_by("lease_until").values_list("id", flat=True)[:BATCH]):
        try:
            rescued += _rescue(fire_id, now, all_claims)
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            # One that can't be brought on keeps none of the others dead; it is tried again.
            log.exception("run_not_rescued", fire=fire_id)
    beat("reap", database_clock.now())
    return rescued


def _rescue(fire_id: int, now: datetime, whatever_lease: bool) -> bool:
    with transaction.atomic():
        fire = (
            Fire.objects.select_for_update(skip_locked=True)
            .filter(pk=fire_id, closed_at__isnull=True, claim_token__isnull=False)
            .first()
        )
        if fire is None or fire.lease_until is None:
            return False
        if fire.lease_until >= now and not whatever_lease:
            return False
        # A token of ours: whatever the old runner still tries to write is refused from here on.
        fire.claim_token, fire.claimed_by = uuid.uuid4(), "rescue"
        fire.lease_until = now + LEASE
        fire.save(update_fields=["claim_token", "claimed_by", "lease_until"])
        run = Run.objects.get(fire_id=fire.pk)
        claim = Claim(fire.pk, run.pk, fire.claim_token, now)
        _bring_on(claim, run, fire)
    log.warning("run_rescued", fire=fire_id, run=run.pk, begun=run.effects_begun_at is not None)
    return True


def _bring_on(claim: Claim, run: Run, fire: Fire) -> None:
    if run.effects_begun_at is not None:
        _keep_open_step(run)
        finish(claim, Ending(RunStatus.FAIL_RESTART, ours=True))
    elif fire.attempts >= MOST_ATTEMPTS:
        finish(claim, Ending(RunStatus.FAIL_PLATFORM, ours=True))
    elif requeue_fire(claim):
        ring_for_fires([claim.fire_id])


def _keep_open_step(run: Run) -> None:
    """What it was at when it died stays on the page, as a step whose end nobody knows."""
    if not run.doing:
        return
    Step.objects.create(
        run=run,
        number=(run.steps.aggregate(last=Max("number"))["last"] or 0) + 1,
        kind=run.doing.get("kind", StepKind.NOTE),
        title=str(run.doing.get("title", ""))[:500],
        content=str(run.doing.get("text", "")),
        facts={"outcome": "unknown"},
        at=database_clock.now(),
    )
