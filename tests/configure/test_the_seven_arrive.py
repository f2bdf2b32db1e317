"""Workspaces that were there before the roster was whole get it, and keep what they had."""

from importlib import import_module

import pytest
from django.apps import apps

from routines_app.models import AgentVersion
from routines_app.rules.roster import THE_SEVEN
from tests.factories import make_agent, make_workspace

pytestmark = pytest.mark.django_db

bring_the_seven = import_module("routines_app.migrations.0003_the_seven").bring_the_seven


def test_what_was_there_stays_and_what_was_missing_comes() -> None:
    workspace, empty = make_workspace(), make_workspace()
    assistant = make_agent(workspace, "Assistant", "model", version=2)
    AgentVersion.objects.create(agent=assistant, number=2, persona="Ours.", model="openai/gpt-5")
    make_agent(workspace)
    reader = make_agent(workspace, "Reader", "model", purpose="Reads.")
    AgentVersion.objects.create(agent=reader, number=1, persona="Read all of it.")
    for _ in range(2):  # again changes nothing
        bring_the_seven(apps, None)
        assert {agent.slug for agent in workspace.agents.all()} == {
            *(member.slug for member in THE_SEVEN),
            "reader",
        }
        kept = assistant.versions.get()
        assert (kept.persona, kept.model, kept.tier) == ("Ours.", "openai/gpt-5", "")
        read = reader.versions.get()
        assert (read.name, read.purpose, read.tier) == ("Reader", "Reads.", "balanced")
        assert "run_command" in read.tools
        came = dict(workspace.agents.values_list("slug", "came_as"))
        assert (came["assistant"], came["writer"], came["reader"]) == ("assistant", "writer", "")
        assert not empty.agents.exists()
