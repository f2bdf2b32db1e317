"""Runs that were here before runs said whose they are get the agent that did them."""

from importlib import import_module

import pytest
from django.db import connection

from routines_app.configure.target import target_of
from routines_app.configure.workspace import furnish
from routines_app.models import Run
from routines_app.rules.status import RunStatus
from tests.factories import make_routine, make_run, make_workspace, owner_of

pytestmark = pytest.mark.django_db
WHOSE = import_module("routines_app.migrations.0009_agent_apps")._WHOSE


def test_a_run_is_its_who_was_named_or_picked_and_a_refused_ones_whom_its_routine_names() -> None:
    workspace, other = make_workspace(), make_workspace()
    for each in (other, workspace):
        furnish(each, owner_of(each))
    writer, analyst = (workspace.agents.get(slug=slug) for slug in ("writer", "analyst"))
    named, nobody = make_routine(workspace, agent=writer), make_routine(workspace, agent=None)
    by_key = {"agent": "Called otherwise then", "target": target_of(named)}
    expected = {
        make_run(named, snapshot=by_key): writer,
        make_run(named, snapshot={"agent": "Analyst"}): analyst,  # before it named Writer
        make_run(nobody, snapshot={"agent": "Analyst", "target": None}): analyst,
        make_run(nobody, snapshot={"agent": "", "target": {"type": "model"}}): None,
        make_run(nobody, RunStatus.SKIP_OVERLAP, snapshot={}): None,
        make_run(named, RunStatus.SKIP_OVERLAP, snapshot={}): writer,
    }
    Run.objects.update(agent=None)
    with connection.cursor() as cursor:
        cursor.execute(WHOSE)
    assert {run: Run.objects.get(pk=run.pk).agent for run in expected} == expected
