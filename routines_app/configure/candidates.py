"""Who may be picked for a routine that names nobody, each with a model that it can use now."""

from routines_app.agents.routing import Candidate, Candidates
from routines_app.agents.turn import ModelChoice
from routines_app.configure.agent_apps import (
    allowed_at,
    barred_app,
    doer_of,
    may_use_all,
    nobody_may,
    required_apps,
)
from routines_app.configure.apps import Missing, missing_app
from routines_app.configure.models import (
    UsableModel,
    assistant_of,
    model_of_agent,
    version_now,
    ways_of,
)
from routines_app.models import Agent, AgentRuntime, Routine
from routines_app.rules.roster import ALL_TOOLS


def candidates_of(routine: Routine) -> Candidates | None:
    """The roster as Assistant may pick from it, itself first; None for a routine that says who
    does it, and where Assistant has no model.

    An agent whose model can't be used now isn't offered, and neither is a script: it would run
    the instructions as a command. One that may not use an app that the routine requires isn't
    either, Assistant itself included.
    """
    if routine.agent_id is not None or routine.model:
        return None
    assistant = assistant_of(routine.workspace)
    if assistant is None:
        return None
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
            return None
    required = required_apps(routine)
    able = tuple(each for each in found if may_use_all(each.allowed, required))
    needs = " and ".join(app.said for app in required) if len(able) < len(found) else ""
    return Candidates(found[0], able, needs)


def what_keeps_it(routine: Routine) -> Missing | None:
    """The app for which a routine wouldn't start now: it isn't connected, or whoever would do it
    may not use it."""
    missing = missing_app(routine)
    if missing is not None or not routine.apps:
        return missing
    doer = doer_of(routine)
    if not doer.picks:
        return barred_app(routine, doer)
    candidates = candidates_of(routine)
    return nobody_may(routine) if candidates and not candidates.able else None


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
        allowed=allowed_at(version),
        agent_id=agent.pk,
    )
