"""The one way to make, change and delete an agent, for pages and programs alike."""

from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.utils.text import slugify

from accounts.models import Membership, Role, User, Workspace
from foundation import database_clock
from routines_app.configure.content import FieldError, Refused
from routines_app.configure.models import Unusable, named_model, version_now
from routines_app.models import Agent, AgentRuntime, AgentVersion, Routine
from routines_app.rules.roster import ALL_TOOLS, TOOL_GROUPS, Tier, groups_of, member_of

MOST = 50  # agents of one workspace: Assistant reads all their purposes when it picks
MOST_PERSONA = 20_000  # characters, paid for with every request
_RESERVED_SLUGS = {"new", "models", "apps"}


@dataclass(frozen=True)
class AgentContent:
    """All that an edit sets. `model` is `provider/model`; without it `tier` is one of `Tier`.

    A script has neither. `tools` are names as a model calls them.
    """

    name: str
    purpose: str
    persona: str
    tier: str
    model: str = ""
    tools: tuple[str, ...] = ()


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
class StaysHere:
    """An agent that can't be deleted: why, and the routines that ask for it."""

    sentence: str
    routines: list[Routine] = field(default_factory=list)


def may_change(membership: Membership, agent: Agent) -> bool:
    """Whether this person may change the agent: an admin any, a member those they made."""
    if membership.may(Role.ADMIN):
        return True
    return membership.may(Role.MEMBER) and agent.made_by_id == membership.user_id


def content_of_agent(agent: Agent) -> AgentContent:
    """What an agent is set to now."""
    version = version_now(agent)
    if version is None:
        script = agent.runtime == AgentRuntime.SCRIPT
        tier = "" if script else Tier.BALANCED.value
        return AgentContent(agent.name, agent.purpose, "", tier, tools=ALL_TOOLS)
    return content_of_version(version)


def content_of_version(version: AgentVersion) -> AgentContent:
    """What an agent was set to at one version."""
    return AgentContent(
        version.name or version.agent.name,
        version.purpose,
        version.persona,
        version.tier,
        version.model,
        tuple(version.tools),
    )


def make_agent(workspace: Workspace, person: User, content: AgentContent) -> Agent | Refused:
    """A new member of the roster, or everything that stands against it."""
    content = _clean(content)
    with transaction.atomic():
        # The workspace's row is held, so that no two take one name, or one slug, at once.
        Workspace.objects.select_for_update().get(pk=workspace.pk)
        errors = _problems(workspace, content, None)
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
    agent: Agent, person: User, version: int, content: AgentContent
) -> AgentSaved | Refused | AgentChangedMeanwhile:
    """Change an agent that is at `version`. Runs that have begun go on with what they had."""
    return _change(agent, person, version, _clean(content), "")


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
    return _change(agent, person, version, content, "As it came")


def is_as_it_came(agent: Agent) -> bool:
    """Whether it is one of the seven and nothing of it differs from how it came."""
    member = member_of(agent.came_as)
    if member is None:
        return False
    now = content_of_agent(agent)
    as_it_came = (member.purpose, member.persona, member.tier or "", "", set(member.tools))
    return (now.purpose, now.persona, now.tier, now.model, set(now.tools)) == as_it_came


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
    agent: Agent, person: User, version: int, content: AgentContent, note: str
) -> AgentSaved | Refused | AgentChangedMeanwhile:
    with transaction.atomic():
        Workspace.objects.select_for_update(no_key=True).get(pk=agent.workspace_id)
        held = Agent.objects.select_for_update().get(pk=agent.pk)
        before = content_of_agent(held)
        if held.version != version:
            theirs = held.versions.select_related("changed_by").get(number=held.version)
            by = str(theirs.changed_by or "somebody")
            return AgentChangedMeanwhile(by, theirs.created_at, before, held.version)
        errors = _problems(held.workspace, content, held)
        if errors:
            return Refused(errors)
        if before == content:
            return AgentSaved(held, changed=False)
        held.version += 1
        held.name, held.purpose = content.name, content.purpose
        held.save(update_fields=["version", "name", "purpose"])
        _keep(held, person, content, database_clock.now(), note or what_changed(before, content))
    return AgentSaved(held, changed=True)


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
        note=note[:200],
        changed_by=person,
        created_at=now,
    )


def what_changed(before: AgentContent, after: AgentContent) -> str:
    """What an edit did, in a few words: "Balanced, was Deep; may fetch web pages"."""
    said = []
    if before.name != after.name:
        said.append(f"called {after.name}, was {before.name}")
    if thinks(before) != thinks(after):
        said.append(f"{thinks(after)}, was {thinks(before)}")
    had, has = set(groups_of(before.tools)), set(groups_of(after.tools))
    said += [f"may {group.name.lower()}" for group in TOOL_GROUPS if group in has - had]
    said += [f"may no longer {group.name.lower()}" for group in TOOL_GROUPS if group in had - has]
    if before.persona != after.persona:
        said.append("other instructions")
    if before.purpose != after.purpose:
        said.append("another purpose")
    words = "; ".join(said) or "other tools"
    return words[:1].upper() + words[1:]


def thinks(content: AgentContent) -> str:
    """How an agent thinks, as a word or a model's name: "Balanced", "anthropic/claude-opus-5"."""
    return content.model or content.tier.capitalize() or "No model"


def _clean(content: AgentContent) -> AgentContent:
    return AgentContent(
        " ".join(content.name.split()),
        " ".join(content.purpose.split()),
        content.persona.replace("\r\n", "\n").strip(),
        "" if content.model.strip() else content.tier,
        content.model.strip(),
        tuple(tool for tool in ALL_TOOLS if tool in content.tools),
    )


def _problems(workspace: Workspace, content: AgentContent, agent: Agent | None) -> list[FieldError]:
    found = _name_problems(workspace, content.name, agent)
    if not content.purpose:
        found.append(
            FieldError("purpose", "Say in a line what it is for: Assistant picks by that.")
        )
    elif len(content.purpose) > 200:
        found.append(FieldError("purpose", "Shorten the purpose to 200 characters."))
    if len(content.persona) > MOST_PERSONA:
        found.append(FieldError("persona", "Shorten the instructions to 20,000 characters."))
    if "\x00" in content.persona + content.purpose + content.name + content.model:
        found.append(FieldError("persona", "Take out the NUL character; text can’t hold it."))
    if agent is None or agent.runtime == AgentRuntime.MODEL:
        found += _model_problems(workspace, content, agent)
    return found


def _name_problems(workspace: Workspace, name: str, agent: Agent | None) -> list[FieldError]:
    if not name:
        return [FieldError("name", "Give it a name.")]
    if len(name) > 60:
        return [FieldError("name", "Shorten the name to 60 characters.")]
    if agent is not None and agent.came_as and agent.name != name:
        return [FieldError("name", f"{agent.name} keeps its name; make a copy to call it so.")]
    others = Agent.objects.filter(workspace=workspace, deleted_at__isnull=True)
    if agent is not None:
        others = others.exclude(pk=agent.pk)
    if name.casefold() in {each.casefold() for each in others.values_list("name", flat=True)}:
        return [FieldError("name", f"Another agent is called {name}. Choose another name.")]
    return []


def _model_problems(
    workspace: Workspace, content: AgentContent, agent: Agent | None
) -> list[FieldError]:
    if not content.model:
        if content.tier in {tier.value for tier in Tier}:
            return []
        return [FieldError("tier", "Choose fast, balanced, deep or one particular model.")]
    if agent is not None and content_of_agent(agent).model == content.model:
        return []  # it was right once: whether it still is, each run finds out
    found = named_model(workspace, content.model)
    if isinstance(found, Unusable):
        said = f"{found.reason[:1].upper()}{found.reason[1:]}. Choose one that is, or a word."
        return [FieldError("model", said)]
    return []


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
