"""Prints the next instants of a cron expression, one a line, in UTC."""

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any
from zoneinfo import reset_tzpath

from django.core.management.base import BaseCommand, CommandError

from foundation import clock
from routines_app.rules import zones
from routines_app.rules.checks import read_instant
from routines_app.rules.cron import CronError, compile_cron


class Command(BaseCommand):
    """`next_runs '0 9 * * 1-5' --timezone America/New_York --after 2026-11-30T00:00:00Z`."""

    help = "Print the next runs of a cron expression, in UTC, one a line."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The expression, and from when, where and how many."""
        parser.add_argument("expression", help="five, six or seven fields, or a word like @daily")
        parser.add_argument("--timezone", default="UTC", help="an IANA name, like Europe/London")
        parser.add_argument("--after", help="an instant like 2026-11-30T00:00:00Z; default: now")
        parser.add_argument("--count", type=int, default=5, help="how many to print; default: 5")

    def handle(self, *args: Any, **options: Any) -> None:
        """Prints the instants; fewer when the expression ends."""
        reset_tzpath(())  # the pinned tzdata, whatever the machine has
        for line in next_lines(
            options["expression"], options["timezone"], options["after"], options["count"]
        ):
            self.stdout.write(line)


def next_lines(expression: str, zone: str, after: str | None, count: int) -> list[str]:
    """The lines to print. Raises CommandError with the sentence that says what to do."""
    refusal = zones.check_zone(zone)
    if refusal is not None:
        raise CommandError(refusal)
    start = clock.now() if after is None else read_instant(after)
    if start is None:
        raise CommandError("Write --after with its offset, like 2026-11-30T00:00:00Z.")
    if not 1 <= count <= 1000:
        raise CommandError("Choose a --count from 1 to 1000.")
    try:
        found = compile_cron(expression).preview(start, zone, count)
    except CronError as refused:
        raise CommandError(refused.sentence) from refused
    return [_said(at) for at in found] or ["Nothing more before 2100."]


def _said(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
