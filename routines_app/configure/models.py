"""Which models a workspace may use: its own keys first, then what the environment holds."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import F

from accounts.models import Workspace
from billing.prices import Price, default_model
from billing.pricing import price_of
from foundation.crypto import CannotDecrypt, decrypt
from routines_app.agents.environment import connections_in
from routines_app.agents.turn import ModelConnection
from routines_app.models import Agent, AgentRuntime, AgentVersion, ModelKey, ModelWord, Routine
from routines_app.rules.roster import ASSISTANT, Tier


@dataclass(frozen=True)
class UsableModel:
    """A model with a way to it and a price, so that a cap can be kept."""

    connection: ModelConnection
    name: str
    price: Price
    key_id: int | None  # its ModelKey, None for the environment's

    @property
    def label(self) -> str:
        """`provider/model`, as agents and routines name it."""
        return f"{self.connection.provider}/{self.name}"


@dataclass(frozen=True)
class Unusable:
    """A model that can't be used, and why, as the end of a sentence."""

    reason: str


NONE_CONNECTED = Unusable("none is connected")


@dataclass(frozen=True)
class Way:
    """One connection of a workspace. `model` is the one that it was put in for, empty when it
    names none; `own` that model's price where the price table has none. `trouble` is why it can't
    be used, "" when it can. `only`: it serves that one model and no other.
    """

    provider: str
    model: str
    connection: ModelConnection | None
    key_id: int | None = None
    own: Price | None = None
    trouble: str = ""
    only: bool = False


def usable_models(workspace: Workspace, ways: "list[Way] | None" = None) -> list[UsableModel]:
    """Each connection's own model that this workspace may use now, the preferred one first."""
    known = ways_of(workspace) if ways is None else ways
    found = [_usable(way, way.model) for way in known]
    return [each for each in found if isinstance(each, UsableModel)]


def model_for(routine: Routine) -> UsableModel | Unusable | None:
    """The model that this routine's next turn would use, or would ask who is needed; None when
    its agent needs none.

    A named model is never replaced by another: without it the routine doesn't run.
    """
    if routine.model and routine.agent is None:
        return named_model(routine.workspace, routine.model)
    agent = routine.agent or assistant_of(routine.workspace)
    return model_of_agent(agent) if agent else word_model(routine.workspace, Tier.BALANCED)


def assistant_of(workspace: Workspace) -> Agent | None:
    """The agent that works out who is needed; None in a workspace without its roster."""
    return Agent.objects.filter(
        workspace=workspace, came_as=ASSISTANT, deleted_at__isnull=True
    ).first()


def version_now(agent: Agent) -> AgentVersion | None:
    """What an agent is now; None for one that was never described."""
    return agent.versions.filter(number=agent.version).first()


def versions_now(agents: Iterable[Agent]) -> dict[int, AgentVersion]:
    """What each of these agents is now, by its id; one that was never described is absent."""
    rows = AgentVersion.objects.filter(
        agent_id__in=[agent.pk for agent in agents], number=F("agent__version")
    )
    return {row.agent_id: row for row in rows.select_related("agent")}


def model_of_agent(agent: Agent, ways: "list[Way] | None" = None) -> UsableModel | Unusable | None:
    """The model that an agent thinks with; None for a script."""
    if agent.runtime == AgentRuntime.SCRIPT:
        return None
    version = version_now(agent)
    if version is not None and version.model:
        return named_model(agent.workspace, version.model, ways)
    tier = Tier(version.tier) if version is not None and version.tier else Tier.BALANCED
    return word_model(agent.workspace, tier, ways)


def named_model(
    workspace: Workspace, label: str, ways: "list[Way] | None" = None
) -> UsableModel | Unusable:
    """One particular model, `provider/model`, by the first connection that leads to it."""
    provider, _, name = label.partition("/")
    known = ways_of(workspace) if ways is None else ways
    those = [way for way in known if way.provider == provider]
    exact = [way for way in those if way.model == name]
    found = [_usable(way, name) for way in exact or [way for way in those if not way.only]]
    usable = [each for each in found if isinstance(each, UsableModel)]
    return (usable or found or [Unusable(f"{label} isn’t connected")])[0]


def word_model(
    workspace: Workspace, tier: Tier, ways: "list[Way] | None" = None
) -> UsableModel | Unusable:
    """What fast, balanced or deep means here: what the workspace says, else by its connections.

    Balanced is the model that a connection was put in for; fast and deep are its provider's, or
    that same model where no other is known.
    """
    known = ways_of(workspace) if ways is None else ways
    said = ModelWord.objects.filter(workspace=workspace, word=tier).first()
    return _meant(workspace, tier, said.model if said else "", known)


def word_models(workspace: Workspace, ways: list[Way]) -> dict[str, UsableModel | Unusable]:
    """What each of the three words means here, as `word_model` has it."""
    rows = ModelWord.objects.filter(workspace=workspace)
    said = dict(rows.values_list("word", "model"))
    return {tier.value: _meant(workspace, tier, said.get(tier.value, ""), ways) for tier in Tier}


def _meant(workspace: Workspace, tier: Tier, said: str, known: list[Way]) -> UsableModel | Unusable:
    if said:
        return named_model(workspace, said, known)
    refused = ""
    for way in known:
        found = _usable(way, model_of_word(way, tier))
        if isinstance(found, UsableModel):
            return found
        refused = refused or found.reason
    return Unusable(refused) if refused else NONE_CONNECTED


def model_of_word(way: Way, tier: Tier) -> str:
    """The model that a word means by one connection."""
    if way.only or tier is Tier.BALANCED:
        return way.model
    return default_model(way.provider, tier.value) or way.model


def _usable(way: Way, name: str) -> UsableModel | Unusable:
    if way.trouble or way.connection is None:
        return Unusable(way.trouble)
    price = price_of(way.provider, name) or (way.own if name == way.model else None)
    if price is None:
        return Unusable(f"{name} has no price, so no cap could be kept")
    return UsableModel(way.connection, name, price, way.key_id)


def ways_of(workspace: Workspace) -> list[Way]:
    """Every connection: the workspace's own, the newest first, then the environment's."""
    keys = ModelKey.objects.filter(workspace=workspace).select_related("workspace")
    return [_own_way(key) for key in keys.order_by("-created_at")] + [
        _way_here(connection) for connection in environment_connections()
    ]


def _own_way(key: ModelKey) -> Way:
    own = (
        Price(key.model, key.own_input, key.own_output)
        if key.own_input is not None and key.own_output is not None
        else None
    )
    only = key.provider == "openai-compatible"
    try:
        connection, trouble = connection_of(key), ""
    except CannotDecrypt:
        connection = None
        trouble = f"the key of {key.provider}/{key.model} can’t be read; enter it again"
    return Way(key.provider, key.model, connection, key.pk, own, trouble, only)


def _way_here(connection: ModelConnection) -> Way:
    name = environment_model(connection.provider)
    if name is None:
        trouble = "ROUTINES_MODEL doesn’t say which model to use"
        return Way(connection.provider, "", connection, trouble=trouble, only=True)
    # whoever names the model of a whole place means it for all three words
    only = _named_here(connection.provider) is not None
    return Way(connection.provider, name, connection, only=only)


def connection_of(key: ModelKey) -> ModelConnection:
    """The way to a provider that a workspace's key is. Raises CannotDecrypt."""
    secret = ""
    if key.sealed:
        secret = decrypt(settings.ENCRYPTION_KEY, str(key.workspace.key), bytes(key.sealed))
    return ModelConnection(
        provider=key.provider,  # type: ignore[arg-type]  # the form offers only the known ones
        api_key=secret,
        base_url=key.base_url or None,
        nearby=settings.NEARBY_MODELS,
    )


def environment_connections() -> list[ModelConnection]:
    """What the process's own environment holds; only where one owner runs it for themselves."""
    if not settings.EMBEDDED:
        return []
    return [replace(each, nearby=True) for each in connections_in(os.environ)]


def environment_model(provider: str) -> str | None:
    """The model that the environment's connection uses: ROUTINES_MODEL, else a balanced one.

    ROUTINES_MODEL is `model` or `provider/model`; an openai-compatible server needs it.
    """
    return _named_here(provider) or default_model(provider)


def _named_here(provider: str) -> str | None:
    """What ROUTINES_MODEL says for this provider; None when it says nothing of it."""
    named = os.environ.get("ROUTINES_MODEL", "")
    before, slash, after = named.partition("/")
    if named and not slash:
        return named
    return after if named and before == provider else None


def ask_for_test(key: ModelKey) -> None:
    """Have a runner make one small request with this key; the row shows the answer."""
    ModelKey.objects.filter(pk=key.pk).update(tested_at=None, test_ok=None, test_answer="")
    transaction.on_commit(
        lambda: current_app.send_task("routines_app.tasks.test_model_key", [key.pk])
    )
