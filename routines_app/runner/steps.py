"""Where a run's steps and spending are stored, each write guarded by the claim's token."""

from datetime import datetime

from django.db import transaction

from foundation import database_clock
from routines_app.agents.turn import NewStep, TurnInterrupted, Usage
from routines_app.fires import Claim
from routines_app.models import Fire, Run, Step
from routines_app.runner.lease import LeaseKeeper, Why

TITLE = 500
CONTENT = 60_000


class StoredSteps:
    """The `StepSink` of a run: steps are numbered from 1 and stored as they end."""

    def __init__(self, claim: Claim, lease: LeaseKeeper) -> None:
        self.claim = claim
        self.lease = lease
        self.count = Step.objects.filter(run_id=claim.run_id).count()

    def check(self) -> None:
        self.lease.check()

    def record(self, step: NewStep) -> None:
        with transaction.atomic():
            now = self._still_ours()
            self.count += 1
            Step.objects.create(
                run_id=self.claim.run_id,
                number=self.count,
                kind=step.kind,
                title=_clean(step.title)[:TITLE],
                content=_clean(step.content)[:CONTENT],
                cost=step.cost,
                seconds=step.seconds,
                facts=step.facts,
                at=now,
            )
        self.lease.check()

    def spent(self, micro: int, usage: Usage) -> None:
        with transaction.atomic():
            self._still_ours()
            Run.objects.filter(pk=self.claim.run_id).update(
                spent=micro,
                input_tokens=usage.input_tokens,
                cached_tokens=usage.cached_tokens,
                output_tokens=usage.output_tokens,
                requests=usage.requests,
            )

    def _still_ours(self) -> datetime:
        """Lock the fire and return the database's time. Raises TurnInterrupted."""
        now: datetime | None = (
            Fire.objects.select_for_update()
            .filter(pk=self.claim.fire_id, claim_token=self.claim.token, closed_at__isnull=True)
            .values_list(database_clock.read_there(), flat=True)
            .first()
        )
        if now is None:
            self.lease.why = Why.LOST
            raise TurnInterrupted(Why.LOST)
        return now


def _clean(text: str) -> str:
    """Without NUL, which PostgreSQL's text can't hold."""
    return text.replace("\x00", "\ufffd")
