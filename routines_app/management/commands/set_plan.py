"""Moves a workspace to another plan; for whoever runs this place."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import Workspace
from billing.move_plan import move_plan
from billing.plans import PLANS


class Command(BaseCommand):
    """`set_plan harbour pro`."""

    help = "Move a workspace to another plan. Nothing is charged, and nothing is turned off."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which workspace, and which plan."""
        parser.add_argument("workspace", help="its slug: the word after /w/ in its address")
        parser.add_argument("plan", choices=sorted(PLANS))

    def handle(self, *args: Any, **options: Any) -> None:
        """Moves it and says so."""
        found = Workspace.objects.filter(slug=options["workspace"], deleted_at__isnull=True).first()
        if found is None:
            raise CommandError(f"There is no workspace {options['workspace']!r}.")
        self.stdout.write(f"{found.name} has {move_plan(found, options['plan']).title} now.")
