"""Whether what a person set of an agent can be saved."""

from accounts.models import Workspace
from routines_app.configure.agent_content import AgentContent, content_of_agent
from routines_app.configure.apps import names_of, rows_of
from routines_app.configure.content import AppUse, FieldError
from routines_app.configure.models import Unusable, named_model
from routines_app.models import Agent, AgentRuntime
from routines_app.rules.roster import Tier

MOST_PERSONA = 20_000  # characters, paid for with every request


def agent_problems(
    workspace: Workspace, content: AgentContent, agent: Agent | None
) -> list[FieldError]:
    """Everything that stands against saving, each with what to do; `agent` None for a new one."""
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
        return found + _app_problems(workspace, content, agent)
    if content.apps is not None:
        found.append(FieldError("apps", "A script calls no apps. Leave them out."))
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


def _app_problems(
    workspace: Workspace, content: AgentContent, agent: Agent | None
) -> list[FieldError]:
    """An app or a tool that isn't there can't be chosen; what was chosen once may stay."""
    chosen = content.apps or ()
    before = (content_of_agent(agent).apps or ()) if agent else ()
    had = {(each.app, name) for each in before for name in each.tools}
    rows = rows_of(workspace, [AppUse(each.app, False) for each in chosen]) if chosen else {}
    found = []
    for each in chosen:
        new = [name for name in each.tools if (each.app, name) not in had]
        row = rows.get(each.app)
        if row is None or row.removed_at is not None:
            if new:
                said = f"No app here is called {each.app[:40]}. Leave it out."
                found.append(FieldError("apps", said))
        elif gone := [name for name in new if name not in names_of(row)]:
            said = f"{row.name} has no tool called {gone[0][:60]}. Leave it out."
            found.append(FieldError("apps", said))
    return found
