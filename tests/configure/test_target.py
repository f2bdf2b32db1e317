"""Whom a routine asks for, as programs say it."""

from typing import Any

import pytest

from routines_app.configure.content import FieldError
from routines_app.configure.target import read_target, target_of
from tests.factories import make_agent, make_routine, make_workspace

pytestmark = pytest.mark.django_db


def test_a_target_is_an_agent_a_model_or_nobody() -> None:
    workspace = make_workspace()
    agent = make_agent(workspace)
    by_agent = {"type": "agent", "agentId": str(agent.key)}
    by_model = {"type": "model", "model": "openai/gpt-5-mini"}
    assert target_of(make_routine(workspace, agent=agent)) == by_agent
    assert target_of(make_routine(workspace, agent=None, model="openai/gpt-5-mini")) == by_model
    assert target_of(make_routine(workspace, agent=None)) is None
    assert read_target(workspace, by_agent) == (agent.pk, "")
    assert read_target(workspace, by_model) == (None, "openai/gpt-5-mini")
    assert read_target(workspace, None) == (None, "")


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"type": "model"},
        {"type": "model", "model": "gpt-5-mini"},
        {"type": "model", "model": 5},
        {"type": "agent", "agentId": "assistant"},
        {"type": "agent", "model": "openai/gpt-5-mini"},
        {"type": "conversation", "agentId": "x"},
    ],
)
def test_anything_else_says_what_to_send(wrong: dict[str, Any]) -> None:
    assert isinstance(read_target(make_workspace(), wrong), FieldError)


def test_another_workspaces_agent_is_none_of_ours() -> None:
    theirs = {"type": "agent", "agentId": str(make_agent(make_workspace()).key)}
    assert isinstance(read_target(make_workspace(), theirs), FieldError)
