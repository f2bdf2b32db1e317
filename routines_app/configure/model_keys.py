"""A workspace's own ways to models: adding one, another key for it, pricing it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from django.conf import settings
from django.db import IntegrityError, transaction

from accounts.models import User, Workspace
from billing.prices import Price
from billing.pricing import price_of
from foundation.addresses import Refused, check_address
from foundation.crypto import encrypt
from routines_app.configure.models import UsableModel, model_for
from routines_app.models import ModelKey, Routine

COMPATIBLE = "openai-compatible"
PROVIDERS = {
    "anthropic": "Anthropic",
    "openai": "OpenAI",
    "google": "Google",
    COMPATIBLE: "OpenAI-compatible",
}
MOST_DOLLARS = Decimal(10_000)  # for a million tokens


@dataclass(frozen=True)
class NewKey:
    """What the form holds. `base_url` counts for `openai-compatible` only."""

    provider: str
    model: str
    secret: str
    base_url: str = ""
    input_price: str = ""
    output_price: str = ""


Problems = dict[str, str]
"""What stands against it: a field's name to a sentence."""


def add_key(workspace: Workspace, person: User, new: NewKey) -> ModelKey | Problems:
    """Keep a key, encrypted for this workspace, or say everything that stands against it."""
    found = _problems(new)
    input_price, output_price = _price(new.input_price), _price(new.output_price)
    if found:
        return found
    own = new.provider == COMPATIBLE
    key = ModelKey(
        workspace=workspace,
        provider=new.provider,
        base_url=new.base_url.strip().rstrip("/") if own else "",
        model=new.model.strip(),
        own_input=input_price,
        own_output=output_price,
        added_by=person,
    )
    _seal(key, new.secret)
    try:
        with transaction.atomic():
            key.save()
    except IntegrityError as error:
        if "one_key_a_provider" not in str(error):
            raise
        field = "base_url" if own else "provider"
        return {field: "There is a connection to it already. Replace its key, or remove it first."}
    return key


def replace_key(key: ModelKey, secret: str) -> Problems:
    """Put another key in the place of a connection's own; what stands against it, {} when it is
    kept. What was said of the old one by its test is forgotten."""
    wrong = _secret_problem(key.provider, secret)
    if wrong:
        return {"secret": wrong}
    _seal(key, secret)
    key.tested_at, key.test_ok, key.test_answer = None, None, ""
    key.save(update_fields=["sealed", "last_four", "tested_at", "test_ok", "test_answer"])
    return {}


def _seal(key: ModelKey, text: str) -> None:
    secret, owner = text.strip(), str(key.workspace.key)
    key.sealed = encrypt(settings.ENCRYPTION_KEY, owner, secret) if secret else b""
    key.last_four = secret[-4:] if len(secret) >= 12 else ""


def _secret_problem(provider: str, text: str) -> str:
    secret = text.strip()
    if not secret and provider != COMPATIBLE:
        return "Paste the key that the provider gave you."
    if not secret.isascii() or not secret.isprintable():
        return "The key holds a character that no key has. Paste it again."
    return ""


def _problems(new: NewKey) -> Problems:
    found: Problems = {}
    if new.provider not in PROVIDERS:
        return {"provider": "Choose one of the four."}
    if not new.model.strip():
        found["model"] = "Write the model’s name, as the provider calls it."
    elif "\0" in new.model:
        found["model"] = "Take out the NUL character; a name can’t hold it."
    elif len(new.model.strip()) > 120:
        found["model"] = "Write a model’s name of 120 characters or fewer."
    if new.provider == COMPATIBLE:
        address = check_address(new.base_url.strip(), allow_loopback=settings.NEARBY_MODELS)
        if isinstance(address, Refused):
            found["base_url"] = address.sentence
        elif len(new.base_url.strip()) > 300:
            found["base_url"] = "Write an address of 300 characters or fewer."
    if wrong := _secret_problem(new.provider, new.secret):
        found["secret"] = wrong
    return found | price_problems(new.input_price, new.output_price)


def price_problems(input_price: str, output_price: str) -> Problems:
    """What stands against two prices in dollars; both empty is fine."""
    found = {
        field: "Write dollars, such as 0.25, between 0 and 10,000."
        for field, text in (("input_price", input_price), ("output_price", output_price))
        if text.strip() and _price(text) is None
    }
    if not found and bool(input_price.strip()) != bool(output_price.strip()):
        missing = "output_price" if input_price.strip() else "input_price"
        found[missing] = "Write both prices, or neither. 0 is a price."
    return found


def _price(text: str) -> int | None:
    """Dollars as micro-dollars; None for anything else.

    >>> _price("0.25"), _price("$3"), _price("3 euro"), _price("")
    (250000, 3000000, None, None)
    """
    try:
        dollars = Decimal(text.strip().removeprefix("$"))
    except InvalidOperation:
        return None
    if not dollars.is_finite() or not 0 <= dollars <= MOST_DOLLARS:
        return None
    return int((dollars * 1_000_000).to_integral_value())


def set_price(key: ModelKey, input_price: str, output_price: str) -> Problems:
    """Give the key's model a price of the workspace's own, in dollars for a million tokens.

    It counts only where the price table knows none; what stands against it, {} when it is set.
    """
    found = price_problems(input_price, output_price)
    if not found and not input_price.strip():
        found = {"input_price": "Write what a million tokens read cost. 0 is a price."}
    if not found:
        ModelKey.objects.filter(pk=key.pk).update(
            own_input=_price(input_price), own_output=_price(output_price)
        )
    return found


def price_of_key(key: ModelKey) -> Price | None:
    """What its model costs, by the table or else by the workspace; None: no run may use it."""
    known = price_of(key.provider, key.model)
    if known is None and key.own_input is not None and key.own_output is not None:
        return Price(key.model, key.own_input, key.own_output)
    return known


def routines_using(key: ModelKey) -> list[Routine]:
    """The routines that are on and whose next run would use this key."""
    on = Routine.objects.select_related("agent", "workspace").filter(
        workspace_id=key.workspace_id, enabled=True, deleted_at__isnull=True
    )
    return [routine for routine in on.order_by("name") if _uses(routine, key)]


def _uses(routine: Routine, key: ModelKey) -> bool:
    model = model_for(routine)
    return isinstance(model, UsableModel) and model.key_id == key.pk
