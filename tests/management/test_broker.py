import pytest
from celery import Celery
from kombu.exceptions import OperationalError
from kombu.utils import functional

from routines_app.broker import LONGEST_SECONDS
from routines_app.celery import app


def test_the_broker_is_looked_for_every_few_seconds_however_long_it_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(functional, "sleep", lambda seconds: None)
    away = Celery("away", amqp=app.amqp_cls, broker="redis://127.0.0.1:1/0", set_as_current=False)
    waits: list[float] = []
    with away.connection_for_read() as connection, pytest.raises(OperationalError):
        connection.ensure_connection(lambda error, wait: waits.append(wait), max_retries=20)
    assert len(waits) == 20 and max(waits) <= LONGEST_SECONDS
