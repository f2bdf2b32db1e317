"""Prints what a cron expression or a typed sentence means, in words."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from foundation import clock
from routines_app.rules.cron import compile_cron
from routines_app.rules.describe import describe
from routines_app.rules.schedule import ScheduleKind, describe_schedule
from routines_app.rules.sentence import Refusal, parse_sentence


class Command(BaseCommand):
    """`describe_schedule '*/25 * * * *'`, or `describe_schedule 'every weekday at 8'`."""

    help = "Print a schedule in words."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The schedule."""
        parser.add_argument("schedule", help="a cron expression, or a sentence")

    def handle(self, *args: Any, **options: Any) -> None:
        """Prints one line."""
        self.stdout.write(in_words(options["schedule"]))


def in_words(text: str) -> str:
    """The schedule in words. Raises CommandError with the sentence that says what to do."""
    found = parse_sentence(text, today=clock.now().date())
    if isinstance(found, Refusal):
        raise CommandError(found.sentence)
    if found.kind is ScheduleKind.CRON:
        return describe(compile_cron(text))
    return describe_schedule(found)
