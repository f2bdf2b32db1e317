"""The doorbell is a hint: it is sent after the commit, and never floods the broker."""

from collections.abc import Iterator

import pytest
from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

from routines_app.fires import doorbell


@pytest.fixture
def unheard() -> Iterator[None]:
    """An empty queue, before and after."""

    def purge() -> None:
        with current_app.pool.acquire(block=True) as held:
            current_app.amqp.queues["runner"].bind(held.default_channel).declare()
            current_app.amqp.queues["runner"].bind(held.default_channel).purge()

    purge()
    yield
    purge()


@pytest.mark.django_db(transaction=True)
def test_it_rings_once_for_each_fire_and_only_after_the_commit(unheard: None) -> None:
    with transaction.atomic():
        doorbell.ring_for_fires([1, 2, 3])
        assert doorbell._unheard() == 0
    assert doorbell._unheard() == 3


@pytest.mark.django_db(transaction=True)
def test_doorbells_that_nobody_hears_dont_pile_up(
    unheard: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doorbell, "MOST_WAITING", 5)
    for _ in range(4):
        doorbell.ring_for_fires([1, 2, 3])
    assert doorbell._unheard() == 5


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_is_away_harms_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> int:
        raise OperationalError("connection refused")

    monkeypatch.setattr(doorbell, "_unheard", away)
    doorbell.ring_for_fires([1])
