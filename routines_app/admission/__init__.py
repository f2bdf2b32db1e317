"""The door: whether a fire may run, and whether a machine may wake."""

from routines_app.admission.admit import admit
from routines_app.admission.machine_door import NotWoken, Woken, put_to_sleep, wake_machine

__all__ = ["NotWoken", "Woken", "admit", "put_to_sleep", "wake_machine"]
