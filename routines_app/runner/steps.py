"""Where a run's steps and spending are stored, each write guarded by the claim's token."""

from datetime import datetime

from django.db import transaction

from foundation import database_clock
from routines_app.agents.turn import NewStep, StepKind, TurnInterrupted, Usage
from routines_app.agents.wording import one_line
from routines_app.fires import Claim
from routines_app.models import Fire, Run, Step
from routines_app.runner.lease import LeaseKeeper, Why
from routines_app.runner.patience import patiently

TITLE = 500
CONTENT = 60_000
STREAMED = 2_000  # characters of a text that is coming in: its end, which is what one reads


class StoredSteps:
    """The `StepSink` of a run: steps are numbered from 1 and stored as they end."""

    def __init__(self, claim: Claim, lease: LeaseKeeper) -> None:
        self.claim = claim
        self.lease = lease
        self._open: dict[str, object] = {}
        self.count = Step.objects.filter(run_id=claim.run_id).count()

    def check(self) -> None:
        self.lease.check()

    def begin(self, kind: StepKind, title: str) -> None:
        self._open = {"kind": kind, "title": _clean(title)[:TITLE]}
        patiently(lambda: self._write({"doing": self._open}))
        self.lease.check()

    def streaming(self, text: str) -> None:
        text = _clean(text)
        shown = text if len(text) <= STREAMED else f"…{text[-STREAMED:]}"
        doing = {"kind": StepKind.SAID, "title": one_line(text), "text": shown}
        patiently(lambda: self._write({"doing": doing}))
        self.lease.check()

    def printed(self, text: str, before: int) -> None:
        doing = {**self._open, "text": _clean(text), "before": before}
        patiently(lambda: self._write({"doing": doing}))
        self.lease.check()

    def record(self, step: NewStep) -> None:
        self.count += 1
        number = self.count
        patiently(lambda: self._store(number, step))
        self.lease.check()

    def spent(self, micro: int, usage: Usage) -> None:
        patiently(
            lambda: self._write(
                {
                    "spent": micro,
                    "input_tokens": usage.input_tokens,
                    "cached_tokens": usage.cached_tokens,
                    "output_tokens": usage.output_tokens,
                    "requests": usage.requests,
                }
            )
        )

    def _write(self, values: dict[str, object]) -> None:
        with transaction.atomic():
            self._still_ours()
            Run.objects.filter(pk=self.claim.run_id).update(**values)

    def _store(self, number: int, step: NewStep) -> None:
        with transaction.atomic():
            now = self._still_ours()
            Run.objects.filter(pk=self.claim.run_id).update(doing={})
            # Its number is taken already when the commit held and only its answer was lost.
            Step.objects.bulk_create(
                [
                    Step(
                        run_id=self.claim.run_id,
                        number=number,
                        kind=step.kind,
                        title=_clean(step.title)[:TITLE],
                        content=_clean(step.content)[:CONTENT],
                        cost=step.cost,
                        seconds=step.seconds,
                        facts=step.facts,
                        at=now,
                    )
                ],
                ignore_conflicts=True,
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
