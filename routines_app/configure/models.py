"""Which models a workspace may use: its own keys first, then what the environment holds."""

import os
from dataclasses import dataclass, replace

from celery import current_app
from django.conf import settings
from django.db import transaction

from accounts.models import Workspace
from billing.prices import Price, default_model
from billing.pricing import price_of
from foundation.crypto import CannotDecrypt, decrypt
from routines_app.agents.environment import connections_in
from routines_app.agents.turn import ModelConnection
from routines_app.models import Agent, AgentRuntime, ModelKey, Routine


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


def usable_models(workspace: Workspace) -> list[UsableModel]:
    """Every model that this workspace may use now, the preferred one first."""
    return [found for found in _all(workspace) if isinstance(found, UsableModel)]


def model_for(routine: Routine) -> UsableModel | Unusable | None:
    """The model that this routine's next turn would use; None when its agent needs none.

    A named model is never replaced by another: without it the routine doesn't run.
    """
    agent = routine.agent
    if agent is not None and agent.runtime == AgentRuntime.SCRIPT:
        return None
    return _choose(routine.workspace, routine.model or (_model_of(agent) if agent else ""))


def _choose(workspace: Workspace, named: str) -> UsableModel | Unusable:
    found = _all(workspace)
    if named:
        matching = [each for each in found if _label(each) == named]
        if matching:
            each = matching[0]
            return each if isinstance(each, UsableModel) else Unusable(each[1])
        return Unusable(f"{named} isn’t connected")
    for each in found:
        if isinstance(each, UsableModel):
            return each
    if found:
        return Unusable(next(e[1] for e in found if not isinstance(e, UsableModel)))
    return Unusable("none is connected")


def _label(each: "UsableModel | tuple[str, str]") -> str:
    return each.label if isinstance(each, UsableModel) else each[0]


def _model_of(agent: Agent) -> str:
    version = agent.versions.filter(number=agent.version).first()
    return version.model if version else ""


def _all(workspace: Workspace) -> "list[UsableModel | tuple[str, str]]":
    """Usable ones, and (label, reason) of those that can't be used."""
    found: list[UsableModel | tuple[str, str]] = []
    for key in ModelKey.objects.filter(workspace=workspace).order_by("-created_at"):
        label = f"{key.provider}/{key.model}"
        try:
            connection = connection_of(key)
        except CannotDecrypt:
            found.append((label, f"the key of {label} can’t be read; enter it again"))
            continue
        own = (
            Price(key.model, key.own_input, key.own_output)
            if key.own_input is not None and key.own_output is not None
            else None
        )
        price = price_of(key.provider, key.model) or own
        found.append(
            UsableModel(connection, key.model, price, key.pk)
            if price
            else (label, f"{key.model} has no price, so no cap could be kept")
        )
    for connection in environment_connections():
        name = environment_model(connection.provider)
        if name is None:
            found.append(
                (f"{connection.provider}/", "ROUTINES_MODEL doesn’t say which model to use")
            )
            continue
        price = price_of(connection.provider, name)
        label = f"{connection.provider}/{name}"
        found.append(
            UsableModel(connection, name, price, None)
            if price
            else (label, f"{name} has no price, so no cap could be kept")
        )
    return found


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
    named = os.environ.get("ROUTINES_MODEL", "")
    if named:
        before, slash, after = named.partition("/")
        if not slash:
            return named
        if before == provider:
            return after
    return default_model(provider)


def ask_for_test(key: ModelKey) -> None:
    """Have a runner make one small request with this key; the row shows the answer."""
    ModelKey.objects.filter(pk=key.pk).update(tested_at=None, test_ok=None, test_answer="")
    transaction.on_commit(
        lambda: current_app.send_task("routines_app.tasks.test_model_key", [key.pk])
    )
