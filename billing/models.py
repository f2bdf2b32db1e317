"""Money rows. Amounts are integer micro-dollars (1,000,000 = $1.00)."""

from django.db import models

from accounts.models import User, Workspace
from foundation import clock


class ModelPrice(models.Model):
    """What a model's tokens cost, in micro-dollars per million; the operator may edit it.

    Seeded from `billing.prices`. A model with no row can't be used: no price, no run.
    """

    provider = models.CharField(max_length=24)
    model = models.CharField(max_length=120)
    input = models.BigIntegerField()
    output = models.BigIntegerField()
    cached_input = models.BigIntegerField(null=True, blank=True)
    cache_write = models.BigIntegerField(null=True, blank=True)
    tiers = models.JSONField(default=list, blank=True)
    source = models.CharField(max_length=24, default="seed")  # seed or operator
    updated_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["provider", "model"], name="one_price_each"),
            models.CheckConstraint(
                condition=models.Q(input__gte=0, output__gte=0), name="price_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.model}"


class Account(models.Model):
    """A workspace's plan and monthly budget. `monthly_budget` None means no limit of its own.

    `budget_by` and `budget_at` say who set it last, and when; None when nobody has.
    """

    workspace = models.OneToOneField(Workspace, on_delete=models.CASCADE, related_name="account")
    plan = models.CharField(max_length=16, default="self-hosted")
    monthly_budget = models.BigIntegerField(null=True, blank=True)
    budget_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    budget_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.workspace}: {self.plan}"


class LedgerEntry(models.Model):
    """One line of the append-only ledger. Spending is negative; a balance is the sum of entries.

    `run_key` names the run it belongs to (the run's own key), since money doesn't import runs.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="ledger")
    kind = models.CharField(max_length=16)  # run, machine, credit, refund
    amount = models.BigIntegerField()
    run_key = models.UUIDField(null=True, blank=True)
    key = models.CharField(max_length=40, blank=True)  # makes an entry that isn't a run's once
    note = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "key"], condition=~models.Q(key=""), name="one_entry_a_key"
            ),
            models.UniqueConstraint(
                fields=["run_key", "kind"],
                condition=models.Q(run_key__isnull=False),
                name="one_entry_a_run_and_kind",
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=["run", "machine", "credit", "refund"]),
                name="ledger_kind_known",
            ),
        ]
        indexes = [models.Index(fields=["workspace", "-created_at"])]

    def __str__(self) -> str:
        return f"{self.kind} {self.amount}"


class Hold(models.Model):
    """The cap of one live run, set aside until the run is recorded; taken once a run."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="holds")
    run_key = models.UUIDField(unique=True)
    amount = models.BigIntegerField()
    taken_at = models.DateTimeField(default=clock.now)
    freed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["workspace"], condition=models.Q(freed_at__isnull=True), name="live_holds"
            )
        ]

    def __str__(self) -> str:
        return f"{self.amount} for {self.run_key}"
