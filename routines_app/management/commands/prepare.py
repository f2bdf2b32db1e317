"""What has to be done once before a new version's processes start."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand

from billing.pricing import seed_price_table
from foundation import clock


class Command(BaseCommand):
    """Bring the database up to date, and give models their prices. Doing it twice is harmless."""

    help = "Migrate the database and seed the table of prices."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        seed_price_table(clock.now())
