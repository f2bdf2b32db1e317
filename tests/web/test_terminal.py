"""What a program prints for a terminal reads as text on its run's page."""

from django.test import Client

from accounts.models import Workspace
from routines_app.agents.turn import StepKind
from tests.factories import make_routine, make_run, make_step


def test_a_runs_page_shows_no_escapes(browser_of_owner: Client, harbour: Workspace) -> None:
    run = make_run(
        make_routine(harbour), headline="\x1b[32mAll well\x1b[0m", body="\x1b[1mThe body\x1b[0m"
    )
    make_step(run, StepKind.RAN, "make", content="\x1b[31mred\x1b[0m and plain")
    page = browser_of_owner.get(f"/w/harbour/routines/{run.routine.slug}/runs/1/").content.decode()
    assert "\x1b" not in page and "red and plain" in page and "<p>The body</p>" in page
    assert "All well" in page
