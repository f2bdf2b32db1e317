"""What agents may use of a workspace's apps, and the routines that this is too little for."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from accounts.models import Workspace
from routines_app.configure.apps import GivenApp, Missing, given_apps, rows_of
from routines_app.configure.content import AppUse, FieldError, RoutineContent, apps_of
from routines_app.configure.models import assistant_of, version_now, versions_now
from routines_app.models import Agent, AgentRuntime, AgentVersion, Routine
from routines_app.rules.allowed import Allowed, allowed_of, may_use
from routines_app.rules.chosen import listed


@dataclass(frozen=True)
class Doer:
    """Whom a routine asks, as it is now: the agent that it names, or else Assistant.

    `agent` None: a model alone, or a workspace without its roster; nothing limits those.
    """

    agent: Agent | None
    version: AgentVersion | None
    picks: bool = False  # nobody is named, so this one picks who does the work

    @property
    def allowed(self) -> Allowed:
        """The apps that it may use at most."""
        return allowed_at(self.version)


def doer_of(routine: Routine) -> Doer:
    """Whom a routine asks now."""
    agent = routine.agent or (None if routine.model else assistant_of(routine.workspace))
    picks = agent is not None and routine.agent_id is None
    return Doer(agent, version_now(agent) if agent else None, picks)


def allowed_at(version: AgentVersion | None) -> Allowed:
    """The apps that an agent may use at most at one version; None: whatever its routine gives."""
    return allowed_of(version.apps) if version else None


def app_names(workspace: Workspace, slugs: Iterable[str]) -> dict[str, str]:
    """Apps' names by their slugs, also of those that have been removed."""
    rows = rows_of(workspace, [AppUse(slug, False) for slug in slugs])
    return {slug: row.name for slug, row in rows.items()}


def may_use_all(allowed: Allowed, apps: Iterable[GivenApp]) -> bool:
    """Whether something of what is given of each of these apps may be used."""
    return all(may_use(allowed, app.use.app, app.tools) for app in apps)


def required_apps(routine: Routine) -> list[GivenApp]:
    """The apps without which a routine doesn't run, those that are there."""
    required = [use for use in apps_of(routine.apps) if use.required]
    return given_apps(routine.workspace, required)


def barred_app(routine: Routine, doer: Doer) -> Missing | None:
    """The first app that a routine requires and its agent may not use; None when it may use all,
    and where nobody is named (`candidates_of` knows about that)."""
    if doer.agent is None or doer.picks:
        return None
    for app in required_apps(routine):
        if not may_use_all(doer.allowed, [app]):
            who = f"{doer.agent.name} may not"
            return Missing(
                app.row.name, "", who, doer.agent.slug, listed(app.use.tools or (), "or")
            )
    return None


def nobody_may(routine: Routine) -> Missing:
    """Says of a routine that names nobody that no agent that could do it may use what it needs."""
    required = required_apps(routine)
    able = any(may_use_all(allowed, required) for allowed in _limits(routine.workspace))
    who = "No agent that has a model may" if able else "No agent may"
    return Missing(_listed(required), "", who)


def limit_problems(
    workspace: Workspace, content: RoutineContent, before: RoutineContent | None
) -> list[FieldError]:
    """What stands against giving a routine its apps: that whoever does it may not use them.

    An app that it had `before`, from the same agent, and doesn't require, may stay: it is just
    not offered.
    """
    same = before is not None and (before.agent_id, before.model) == (
        content.agent_id,
        content.model,
    )
    had = {(use.app, use.tools) for use in before.apps} if before and same else set()
    uses = [use for use in content.apps if use.required or (use.app, use.tools) not in had]
    if not uses or (content.model and content.agent_id is None):
        return []
    there = given_apps(workspace, uses)
    if content.agent_id is None:
        return _nobody_problems(workspace, there)
    agent = Agent.objects.filter(workspace=workspace, pk=content.agent_id).first()
    if agent is None or agent.runtime == AgentRuntime.SCRIPT:
        return []  # the one isn't there, which is said elsewhere; a script calls no apps
    allowed = allowed_at(version_now(agent))
    return [
        FieldError(
            "apps",
            f"{agent.name} may not use {app.said}. Allow it on {agent.name}’s page, or leave it "
            "out here.",
        )
        for app in there
        if not may_use_all(allowed, [app])
    ]


def _nobody_problems(workspace: Workspace, there: list[GivenApp]) -> list[FieldError]:
    """Assistant picks only an agent that may use all that is required, so there has to be one."""
    if assistant_of(workspace) is None:
        return []
    limits = _limits(workspace)

    def problem(apps: Collection[GivenApp]) -> list[FieldError]:
        if any(may_use_all(allowed, apps) for allowed in limits):
            return []
        said = f"No agent here may use {_listed(apps)}. Allow it on an agent’s page, or leave it "
        return [FieldError("apps", said + "out here.")]

    found = problem([app for app in there if app.use.required])
    for app in there:
        if not app.use.required:
            found += problem([app])
    return found


def routines_stopped(agent: Agent, before: Allowed, after: Allowed) -> list[Routine]:
    """The routines that would run now and wouldn't any more, were the agent allowed only `after`;
    by name."""
    if agent.runtime == AgentRuntime.SCRIPT or after is None:
        return []
    here = Routine.objects.present().filter(
        workspace_id=agent.workspace_id, apps__contains=[{"required": True}]
    )
    found = list(here.filter(agent=agent).order_by("name"))
    open_ones = list(here.filter(agent=None, model="").order_by("name"))
    others = _limits(agent.workspace, but=agent) if open_ones else []
    stopped = []
    for routine in [*found, *open_ones]:
        required = required_apps(routine)
        limits = others if routine.agent_id is None else []
        could = any(may_use_all(each, required) for each in [before, *limits])
        if could and not any(may_use_all(each, required) for each in [after, *limits]):
            stopped.append(routine)
    return sorted(stopped, key=lambda routine: routine.name)


def _limits(workspace: Workspace, but: Agent | None = None) -> list[Allowed]:
    """What each agent that a model does may use at most."""
    agents = Agent.objects.filter(
        workspace=workspace, deleted_at__isnull=True, runtime=AgentRuntime.MODEL
    )
    if but is not None:
        agents = agents.exclude(pk=but.pk)
    versions = versions_now(agents)
    return [allowed_at(versions.get(agent.pk)) for agent in agents]


def _listed(apps: Collection[GivenApp]) -> str:
    return " and ".join(app.said for app in apps)
