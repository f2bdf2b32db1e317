"""What happens when somebody has signed up."""

from typing import Any

from django.db import transaction

from accounts.join import found_workspace
from accounts.models import User
from routines_app.configure.workspace import furnish


def welcome(*, user: User, **signal: Any) -> None:
    """Found the person's workspace and furnish it; both or neither."""
    with transaction.atomic():
        furnish(found_workspace(user, user.zone), user)
