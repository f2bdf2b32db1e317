"""Whom a routine asks for, as programs say it: `{"type": "model", "model": "provider/model"}` is
the product itself on that model, `{"type": "agent", "agentId": key}` one agent of the roster;
null leaves it to Assistant.
"""

from collections.abc import Mapping
from uuid import UUID

from accounts.models import Workspace
from routines_app.configure.content import FieldError
from routines_app.models import Agent, Routine

Target = dict[str, str]


def target_of(routine: Routine) -> Target | None:
    """Whom the routine asks for; None when Assistant works out who is needed."""
    if routine.agent is not None:
        return {"type": "agent", "agentId": str(routine.agent.key)}
    return {"type": "model", "model": routine.model} if routine.model else None


def read_target(
    workspace: Workspace, target: Mapping[str, object] | None
) -> tuple[int | None, str] | FieldError:
    """A target as `RoutineContent` holds it, its `agent_id` and `model`; or what is wrong.

    The model itself is looked at when the routine is saved and before each run.
    """
    if target is None:
        return None, ""
    match target:
        case {"type": "model", "model": str(model)} if "/" in model and "agentId" not in target:
            return None, model
        case {"type": "agent", "agentId": str(key)} if "model" not in target:
            agents = Agent.objects.filter(workspace=workspace, deleted_at__isnull=True)
            known = _uuid(key)
            agent = agents.filter(key=known).first() if known else None
            if agent is not None:
                return agent.pk, ""
            return FieldError("target", "No agent of this workspace has this agentId.")
        case _:
            said = 'Send {"type": "model", "model": "provider/model"}, or {"type": "agent", '
            return FieldError("target", said + '"agentId": "…"}, or null for Assistant.')


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
