"""The roster and an agent's page: what it is for, what it may use and what it usually costs."""

from datetime import timedelta

import pytest
from django.test import Client

from accounts.models import Workspace
from routines_app.models import Agent
from tests.factories import NOON, make_routine, make_run

pytestmark = pytest.mark.django_db


def test_what_is_usual_is_the_median_of_runs_that_reached_a_model(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    assistant = Agent.objects.get(workspace=harbour, slug="assistant")
    routine = make_routine(harbour, agent=assistant, name="Inbox triage", slug="triage")
    page = browser_of_owner.get("/w/harbour/agents/").content.decode()
    assert "not known yet" in page and 'data-l="Typically">$0.00</td>' in page
    for number, spent in enumerate((10_000, 50_000, 420_000)):
        at = NOON - timedelta(days=number + 1)
        make_run(routine, at=at, spent=spent, turn_at=at)
    make_run(routine, at=NOON - timedelta(hours=1), spent=0)  # its check found nothing
    page = browser_of_owner.get("/w/harbour/agents/").content.decode()
    assert 'data-l="Typically">$0.05</td>' in page
    page = browser_of_owner.get("/w/harbour/agents/assistant/").content.decode()
    assert "$0.05 a run." in page and ">Inbox triage</a>" in page
    assert "Run commands" in page and "Changes things, on the machine" in page


def test_a_script_thinks_without_a_model(browser_of_owner: Client, harbour: Workspace) -> None:
    page = browser_of_owner.get("/w/harbour/agents/script/").content.decode()
    assert "No model." in page and "$0.00 a run." in page and "No routine yet." in page
    assert browser_of_owner.get("/w/harbour/agents/nobody/").status_code == 404
