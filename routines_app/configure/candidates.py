"""Who may be picked for a routine that names nobody, each with a model that it can use now."""

from routines_app.agents.routing import Candidate
from routines_app.agents.turn import ModelChoice
from routines_app.configure.models import (
    UsableModel,
    assistant_of,
    model_of_agent,
    version_now,
    ways_of,
)
from routines_app.models import Agent, AgentRuntime, Routine
from routines_app.rules.roster import ALL_TOOLS


def candidates_of(routine: Routine) -> tuple[Candidate, ...]:
    """The roster as Assistant may pick from it, itself first; empty for a routine that says who
    does it, and where Assistant has no model.

    An agent whose model can't be used now isn't offered, and neither is a script: it would run
    the instructions as a command.
    """
    if routine.agent_id is not None or routine.model:
        return ()
    assistant = assistant_of(routine.workspace)
    if assistant is None:
        return ()
    ways = ways_of(routine.workspace)
    others = (
        Agent.objects.filter(
            workspace=routine.workspace, deleted_at__isnull=True, runtime=AgentRuntime.MODEL
        )
        .exclude(pk=assistant.pk)
        .order_by("pk")
    )
    found = []
    for agent in [assistant, *others]:
        model = model_of_agent(agent, ways)
        if isinstance(model, UsableModel):
            found.append(_candidate(agent, model))
        elif agent == assistant:
            return ()
    return tuple(found)


def _candidate(agent: Agent, model: UsableModel) -> Candidate:
    version = version_now(agent)
    return Candidate(
        slug=agent.slug,
        name=agent.name,
        version=agent.version,
        purpose=agent.purpose,
        persona=version.persona if version else "",
        tools=tuple(version.tools) if version else ALL_TOOLS,
        choice=ModelChoice(model.connection, model.name, model.price),
        key_id=model.key_id,
    )
