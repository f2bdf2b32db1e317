"""Fills a workspace of its own with six weeks of a believable life, to look at the pages."""

import secrets
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, connection, transaction

from accounts.models import User, Workspace
from foundation import database_clock, env
from foundation.embedded import running_address
from machines.providers.base import MachineError
from routines_app.management.demo import place
from routines_app.management.demo.hand import moved_clock
from routines_app.management.demo.place import EMPTY, FULL, NotOurs
from routines_app.management.demo.tell import tell_demo


class Command(BaseCommand):
    """`seed_demo`, and `seed_demo --empty` for a workspace without any routine."""

    help = "Make a demo workspace with six weeks of runs of every kind, and say how to sign in."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Whose it is, and what to do where it is there already."""
        parser.add_argument("--again", action="store_true", help="replace the demo that is there")
        parser.add_argument("--empty", action="store_true", help="a workspace without routines")
        parser.add_argument("--owner", help="the email of somebody here who shall own it")
        parser.add_argument("--password", help="the guest's password; default: one made up")

    def handle(self, *args: Any, **options: Any) -> None:
        """Makes it in one transaction, so that a running Routines sees all of it or nothing."""
        where = EMPTY if options["empty"] else FULL
        try:
            there = where.find()
        except OperationalError as error:
            raise CommandError("The database doesn't answer. Start it first: make up") from error
        if isinstance(there, NotOurs):
            raise CommandError(
                f"There is a workspace {there.slug!r} that this command didn't make. It is left "
                "alone; rename its address, or use another database."
            )
        if there is not None and not options["again"]:
            self.stdout.write(f"{there.name} is there already. Nothing was changed.")
            self.stdout.write(f"{_address(there)}  (--again makes it anew)")
            return
        password = options["password"] or secrets.token_urlsafe(12)
        try:
            made, guest = _make(where, there, options["owner"], password)
        except User.DoesNotExist as error:
            raise CommandError(f"Nobody here has the email {options['owner']!r}.") from error
        except (MachineError, OSError) as error:
            raise CommandError(f"Its machines can't be made: {error}") from error
        self.stdout.write(f"{made.name} is there: {_address(made)}")
        if options["owner"]:
            self.stdout.write(f"Sign in as {guest.email}, as always.")
        else:
            self.stdout.write(f"Sign in as {guest.email} with the password {password}")


def _make(
    where: place.Place, there: Workspace | None, owner: str | None, password: str
) -> tuple[Workspace, User]:
    now = database_clock.now()
    rung = len(connection.run_on_commit)
    with moved_clock() as hand, transaction.atomic():
        guest, colleague = place.people(owner, password)
        if there is not None:
            if place.works_now(there):
                raise CommandError("A run goes on in it. Stop it, then seed again.")
            place.take_away(there)
        born = place.born_at(now)
        made = place.found(where, guest, hand, now if where is EMPTY else born)
        if where is FULL:
            place.staff(made, guest, colleague, hand, born)
            tell_demo(made, guest, colleague, hand, now)
        # Doorbells for what is over: the sweep finds the one run that waits.
        del connection.run_on_commit[rung:]
    return made, guest


def _address(workspace: Workspace) -> str:
    return f"{_site()}/w/{workspace.slug}/routines/"


def _site() -> str:
    """Where the pages are: at the port of the Routines that runs, which needn't be that of this
    process, unless SITE_URL says it."""
    said = env.optional("SITE_URL") is not None or not settings.EMBEDDED
    return settings.SITE_URL if said else running_address(settings.VAR) or settings.SITE_URL
