"""What happens when somebody has signed up."""

from typing import Any

import structlog
from celery import current_app
from django.db import transaction
from django.http import HttpRequest
from kombu.exceptions import OperationalError

from accounts.adapter import INVITED
from accounts.invite import join
from accounts.join import found_workspace
from accounts.models import Membership, User
from foundation import clock
from routines_app.configure.workspace import furnish

log = structlog.get_logger()


def welcome(*, request: HttpRequest, user: User, **signal: Any) -> None:
    """Let somebody who was invited in; for anybody else found a workspace and furnish it."""
    secret = request.session.pop(INVITED, None)
    if isinstance(secret, str) and isinstance(join(secret, user, clock.now()), Membership):
        return
    with transaction.atomic():
        machine = furnish(found_workspace(user, user.zone), user)
        transaction.on_commit(lambda: _wake(machine.pk, str(user)))


def _wake(machine_id: int, why: str) -> None:
    """Have its machine awake by the time that a first routine is chosen."""
    try:
        current_app.send_task("routines_app.tasks.wake", [machine_id, why])
    except OperationalError as error:
        log.warning("first_wake_not_asked", machine=machine_id, error=str(error))
