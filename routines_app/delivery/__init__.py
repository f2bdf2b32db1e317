"""The outbox: who is told of a run, written with the run and carried out afterwards."""

from routines_app.delivery.deliver import deliver, deliver_waiting, read_run
from routines_app.delivery.quiet import ring_for_quiet
from routines_app.delivery.tell import tell

__all__ = ["deliver", "deliver_waiting", "read_run", "ring_for_quiet", "tell"]
