"""Many runs admitted at the same moment with money for a few of them."""

import threading
from collections import Counter
from typing import Any

import pytest
from django.db import connection

from billing.holds import held, spent_this_month
from billing.models import Account, Hold, LedgerEntry
from foundation import database_clock
from foundation.crypto import encrypt
from routines_app.admission import admit
from routines_app.admission.admit import Ready
from routines_app.fires import FireRequest, claim_fire, request_fires
from routines_app.fires.audit import audit
from routines_app.models import Fire, ModelKey, Run
from routines_app.rules.admission import Refused
from routines_app.rules.status import RunStatus
from routines_app.runner import record
from routines_app.runner.ending import Ending
from tests.factories import make_agent, make_machine, make_routine, make_workspace

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True)]

CAP = 500_000
THREADS = 50


def bring_home(fire_id: int, worker: str, start: threading.Barrier, live: threading.Barrier) -> int:
    """One runner: claim, be admitted beside all the others, spend the whole cap, record."""
    try:
        claim = claim_fire(fire_id, worker, database_clock.now())
        assert claim
        start.wait(60)
        admitted = admit(claim)
        live.wait(60)  # nothing is given back until everybody has been judged
        if isinstance(admitted, Refused):
            assert record.finish(claim, Ending(admitted.status, admitted.facts))
            return 0
        assert isinstance(admitted, Ready)
        assert record.begin_effects(claim, RunStatus.RUNNING, "")
        ending = Ending(RunStatus.DONE_CHANGED, headline="Done", changed=True, spent=CAP)
        assert record.finish(claim, ending)
        return 1
    finally:
        connection.close()


@pytest.fixture
def fires(settings: Any) -> list[int]:
    """Fifty routines due, each on a machine of its own, with money for ten."""
    workspace = make_workspace()
    Account.objects.create(workspace=workspace, monthly_budget=10 * CAP)
    ModelKey.objects.create(
        workspace=workspace,
        provider="openai-compatible",
        base_url="http://127.0.0.1:9",
        model="small",
        own_input=1_000_000,
        own_output=1_000_000,
        sealed=encrypt(settings.ENCRYPTION_KEY, str(workspace.key), "sk-none"),
        last_four="none",
    )
    agent = make_agent(workspace, "Assistant", "model")
    now = database_clock.now()
    requests = [
        FireRequest(
            make_routine(
                workspace,
                agent=agent,
                cap=CAP,
                machine=make_machine(workspace, f"harbour-{number}"),
                next_fire_at=None,
                schedule_kind="when_asked",
            ).pk,
            "timer",
            f"burst {number}",
            now,
        )
        for number in range(THREADS)
    ]
    return sorted(request_fires(requests, now))


def test_fifty_at_once_with_money_for_ten_are_ten_runs_and_forty_rows(fires: list[int]) -> None:
    start, live = threading.Barrier(THREADS), threading.Barrier(THREADS)
    ran: list[int] = []

    def one(fire_id: int) -> None:
        ran.append(bring_home(fire_id, f"runner {fire_id}", start, live))

    threads = [threading.Thread(target=one, args=(fire_id,)) for fire_id in fires]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(ran) == {1: 10, 0: 40}
    assert Counter(Run.objects.values_list("status", flat=True)) == {
        "done_changed": 10,
        "skip_budget": 40,
    }
    account = Account.objects.get()
    now = database_clock.now()
    assert spent_this_month(account, now) == 10 * CAP == account.monthly_budget
    assert held(account.workspace_id) == 0
    assert Hold.objects.count() == LedgerEntry.objects.count() == 10
    assert not Fire.objects.filter(closed_at__isnull=True).exists()
    assert audit(now).violations == ()
    refused = Run.objects.filter(status="skip_budget").first()
    assert refused and refused.facts["kind"] == "budget"
    assert refused.facts["limit"] == 10 * CAP


def test_a_script_runs_when_the_budget_is_overspent_since_it_costs_nothing() -> None:
    workspace = make_workspace()
    Account.objects.create(workspace=workspace, monthly_budget=1)
    LedgerEntry.objects.create(workspace=workspace, kind="run", amount=-5)
    now = database_clock.now()
    made = request_fires([FireRequest(make_routine(workspace).pk, "timer", "k", now)], now)
    claim = claim_fire(next(iter(made)), "w", now)
    assert claim
    assert isinstance(admit(claim), Ready)
