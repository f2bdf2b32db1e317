"""What has to be done once before a new version's processes start."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand

from billing.pricing import seed_price_table
from foundation import clock


class Command(BaseCommand):
    """The database brought up to date, models' prices, static files. Twice is as good as once."""

    help = "Migrate the database, seed the table of prices, collect the static files."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        seed_price_table(clock.now())
        call_command("collectstatic", interactive=False, verbosity=0)
