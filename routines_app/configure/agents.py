"""The one way to make, change and delete an agent, for pages and programs alike."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.utils.text import slugify

from accounts.models import Membership, Role, User, Workspace
from foundation import database_clock
from routines_app.configure.agent_apps import app_names, routines_stopped
from routines_app.configure.agent_content import (
    AgentContent,
    content_of_agent,
    content_of_version,
    thinks,
    what_changed,
)
from routines_app.configure.agent_problems import agent_problems
from routines_app.configure.content import FieldError, Refused
from routines_app.models import Agent, AgentVersion, Routine
from routines_app.rules.allowed import Allowed, allowed_json, in_order
from routines_app.rules.roster import ALL_TOOLS, member_of

MOST = 50  # agents of one workspace: Assistant reads all their purposes when it picks
_RESERVED_SLUGS = {"new", "models", "apps"}


@dataclass(frozen=True)
class AgentSaved:
    """Saved. `changed` False when nothing differed, and no version was made."""

    agent: Agent
    changed: bool


@dataclass(frozen=True)
class AgentChangedMeanwhile:
    """Somebody saved another version since the form was opened; nothing of ours was saved."""

    by: str
    at: datetime
    theirs: AgentContent
    version: int


@dataclass(frozen=True)
class WouldStop:
    """Nothing was saved yet: these routines require an app that the agent could use no more."""

    routines: list[Routine]


@dataclass(frozen=True)
class StaysHere:
    """An agent that can't be deleted: why, and the routines that ask for it."""

    sentence: str
    routines: list[Routine] = field(default_factory=list)


def may_change(membership: Membership, agent: Agent) -> bool:
    """Whether this person may change the agent: an admin any, a member those they made."""
    if membership.may(Role.ADMIN):
        return True
    return membership.may(Role.MEMBER) and agent.made_by_id == membership.user_id


def make_agent(workspace: Workspace, person: User, content: AgentContent) -> Agent | Refused:
    """A new member of the roster, or everything that stands against it."""
    content = _clean(content)
    with transaction.atomic():
        # The workspace's row is held, so that no two take one name, or one slug, at once.
        Workspace.objects.select_for_update().get(pk=workspace.pk)
        errors = agent_problems(workspace, content, None)
        here = Agent.objects.filter(workspace=workspace, deleted_at__isnull=True)
        if here.count() >= MOST:
            errors.append(
                FieldError("name", f"A workspace holds {MOST} agents. Delete one of yours first.")
            )
        if errors:
            return Refused(errors)
        agent = Agent.objects.create(
            workspace=workspace,
            name=content.name,
            slug=_free_slug(workspace, content.name),
            purpose=content.purpose,
            made_by=person,
        )
        _keep(agent, person, content, database_clock.now(), "Made")
    return agent


def configure_agent(
    agent: Agent,
    person: User,
    version: int,
    content: AgentContent,
    *,
    stopping: Collection[str] = (),
) -> AgentSaved | Refused | AgentChangedMeanwhile | WouldStop:
    """Change an agent that is at `version`. Runs that have begun go on with what they had.

    `stopping` are the slugs of the routines that the person knows this would stop; where it would
    stop others, nothing is saved.
    """
    return _change(agent, person, version, _clean(content), known=stopping)


def put_back(
    agent: Agent, person: User, version: int
) -> AgentSaved | Refused | AgentChangedMeanwhile:
    """Make one of the seven what it came as, as a new version."""
    member = member_of(agent.came_as)
    if member is None:
        return Refused([FieldError("name", "Only those that came with the workspace go back.")])
    content = AgentContent(
        agent.name,
        member.purpose,
        member.persona,
        member.tier.value if member.tier else "",
        tools=member.tools,
    )
    answer = _change(agent, person, version, content, "As it came")
    assert not isinstance(answer, WouldStop)  # as it came, it may use what its routines give it
    return answer


def is_as_it_came(agent: Agent) -> bool:
    """Whether it is one of the seven and nothing of it differs from how it came."""
    member = member_of(agent.came_as)
    if member is None:
        return False
    now = content_of_agent(agent)
    as_it_came = (member.purpose, member.persona, member.tier or "", "", set(member.tools), None)
    has = (now.purpose, now.persona, now.tier, now.model, set(now.tools), now.apps)
    return has == as_it_came


def delete_agent(agent: Agent) -> Agent | StaysHere:
    """Take an agent of the workspace's own off the roster; its versions and its runs stay."""
    with transaction.atomic():
        held = Agent.objects.select_for_update().get(pk=agent.pk)
        if held.came_as:
            return StaysHere(
                f"{held.name} comes with the workspace. It can be changed, and put back."
            )
        routines = list(Routine.objects.present().filter(agent=held).order_by("name"))
        if routines:
            names = ", ".join(routine.name for routine in routines)
            ask = "asks" if len(routines) == 1 else "ask"
            return StaysHere(
                f"{names} {ask} for {held.name}. Choose another agent there first.", routines
            )
        held.deleted_at = held.deleted_at or database_clock.now()
        held.save(update_fields=["deleted_at"])
    return held


def _change(
    agent: Agent,
    person: User,
    version: int,
    content: AgentContent,
    note: str = "",
    known: Collection[str] = (),
) -> AgentSaved | Refused | AgentChangedMeanwhile | WouldStop:
    with transaction.atomic():
        Workspace.objects.select_for_update(no_key=True).get(pk=agent.workspace_id)
        # No key of it changes, so fires that refer to it needn't wait.
        held = Agent.objects.select_for_update(no_key=True).get(pk=agent.pk)
        before = content_of_agent(held)
        if held.version != version:
            theirs = held.versions.select_related("changed_by").get(number=held.version)
            by = str(theirs.changed_by or "somebody")
            return AgentChangedMeanwhile(by, theirs.created_at, before, held.version)
        errors = agent_problems(held.workspace, content, held)
        if errors:
            return Refused(errors)
        if before == content:
            return AgentSaved(held, changed=False)
        stopped = routines_stopped(held, before.apps, content.apps)
        if not {routine.slug for routine in stopped} <= set(known):
            return WouldStop(stopped)
        held.version += 1
        held.name, held.purpose = content.name, content.purpose
        held.save(update_fields=["version", "name", "purpose"])
        names = app_names(held.workspace, _apps_in(before.apps, content.apps))
        note = note or what_changed(before, content, names)
        _keep(held, person, content, database_clock.now(), note)
    return AgentSaved(held, changed=True)


def _apps_in(*those: Allowed) -> set[str]:
    return {each.app for allowed in those for each in allowed or ()}


def _keep(agent: Agent, person: User, content: AgentContent, now: datetime, note: str) -> None:
    AgentVersion.objects.create(
        agent=agent,
        number=agent.version,
        name=content.name,
        purpose=content.purpose,
        persona=content.persona,
        tier=content.tier,
        model=content.model,
        tools=list(content.tools),
        apps=allowed_json(content.apps),
        note=note[:200],
        changed_by=person,
        created_at=now,
    )


def _clean(content: AgentContent) -> AgentContent:
    return AgentContent(
        " ".join(content.name.split()),
        " ".join(content.purpose.split()),
        content.persona.replace("\r\n", "\n").strip(),
        "" if content.model.strip() else content.tier,
        content.model.strip(),
        tuple(tool for tool in ALL_TOOLS if tool in content.tools),
        in_order(content.apps),
    )


def _free_slug(workspace: Workspace, name: str) -> str:
    """A slug that no agent of the workspace has or had."""
    base = slugify(name)[:50].strip("-") or "agent"
    taken = set(
        Agent.objects.filter(workspace=workspace, slug__startswith=base).values_list(
            "slug", flat=True
        )
    )
    candidate, number = base, 2
    while candidate in taken or candidate in _RESERVED_SLUGS or member_of(candidate):
        candidate, number = f"{base}-{number}", number + 1
    return candidate


__all__ = [
    "AgentChangedMeanwhile",
    "AgentContent",
    "AgentSaved",
    "StaysHere",
    "WouldStop",
    "configure_agent",
    "content_of_agent",
    "content_of_version",
    "delete_agent",
    "is_as_it_came",
    "make_agent",
    "may_change",
    "put_back",
    "thinks",
    "what_changed",
]
