"""Says whether anything vanished: every broken invariant, and how many occurrences have a row."""

from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import Workspace
from foundation import database_clock
from routines_app.fires.audit import audit
from routines_app.rules.checks import read_instant


class Command(BaseCommand):
    """`audit_runs --since 2027-03-25T00:00:00Z`; ends with 1 when an invariant is broken."""

    help = "Check every invariant on what is stored, and count the occurrences that have a row."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The stretch of time and the workspace; all of it without them."""
        parser.add_argument("--since", help="an instant like 2027-03-25T00:00:00Z")
        parser.add_argument("--until", help="an instant like 2027-03-26T00:00:00Z")
        parser.add_argument("--workspace", help="a workspace's name in its addresses")

    def handle(self, *args: Any, **options: Any) -> None:
        """Prints each violation in a sentence, and the account."""
        found = audit(
            database_clock.now(),
            since=_instant(options, "since"),
            until=_instant(options, "until"),
            workspace_id=_workspace(options["workspace"]),
        )
        for violation in found.violations:
            self.stdout.write(f"{violation.invariant}: {violation.sentence}")
        self.stdout.write(f"{found.accounted:,} of {found.expected:,} occurrences accounted for.")
        if found.violations:
            raise SystemExit(1)


def _instant(options: dict[str, Any], name: str) -> datetime | None:
    text = options[name]
    if text is None:
        return None
    instant = read_instant(text)
    if instant is None:
        raise CommandError(f"Write --{name} with its offset, like 2027-03-25T00:00:00Z.")
    return instant


def _workspace(slug: str | None) -> int | None:
    if slug is None:
        return None
    found = Workspace.objects.filter(slug=slug).values_list("pk", flat=True).first()
    if found is None:
        raise CommandError(f"There is no workspace {slug!r}.")
    return found
