"""The way to the broker: after an outage of any length it is found again within seconds."""

from typing import Any

from celery.app.amqp import AMQP
from kombu import Connection

LONGEST_SECONDS = 3.0
"""Between two tries. Kombu alone goes up to 30 s, and a doorbell may be heard 5 s late at most."""


class _Connection(Connection):
    def ensure_connection(self, *args: Any, **kwargs: Any) -> Any:
        """As kombu's, with tries that stay close together."""
        tries = {"interval_start": 1, "interval_step": 1, "interval_max": LONGEST_SECONDS}
        return super().ensure_connection(*args, **{**tries, **kwargs})


class Broker(AMQP):
    """What Celery asks for connections."""

    Connection = _Connection
