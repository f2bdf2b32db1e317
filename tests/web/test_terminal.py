"""What a program prints for a terminal reads as text on its run's page."""

import pytest
from django.test import Client

from accounts.models import Workspace
from routines_app.agents.turn import StepKind
from routines_app.rules.terminal import without_escapes
from tests.factories import make_routine, make_run, make_step


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("\x1b[1;32mok\x1b[0m", "ok"),
        ("\x1b[38;5;208mwarm\x1b[K\x1b[2J", "warm"),
        ("\x1b]0;a title\x07text", "text"),
        ("\x1b]8;;https://example.org\x1b\\a link\x1b]8;;\x1b\\", "a link"),
        ("\x1b(Bplain\x1b7\x1bM", "plain"),
        ("[32m isn't one, nor is a\ttab or ü", "[32m isn't one, nor is a\ttab or ü"),
    ],
)
def test_only_the_escape_sequences_go(printed: str, shown: str) -> None:
    assert without_escapes(printed) == shown


def test_a_runs_page_shows_no_escapes(browser_of_owner: Client, harbour: Workspace) -> None:
    run = make_run(
        make_routine(harbour), headline="\x1b[32mAll well\x1b[0m", body="\x1b[1mThe body\x1b[0m"
    )
    make_step(run, StepKind.RAN, "make", content="\x1b[31mred\x1b[0m and plain")
    page = browser_of_owner.get(f"/w/harbour/routines/{run.routine.slug}/runs/1/").content.decode()
    assert "\x1b" not in page and "red and plain" in page and "<p>The body</p>" in page
    assert "All well" in page
