"""The ways to models: those of the environment, and the workspace's own keys."""

from __future__ import annotations

from dataclasses import dataclass

import structlog
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods
from kombu.exceptions import OperationalError

from accounts.models import Role
from billing.models import ModelPrice
from billing.prices import Price
from billing.pricing import price_of
from billing.standing import account_of, standing
from foundation import clock
from routines_app.configure.model_keys import (
    PROVIDERS,
    NewKey,
    Problems,
    add_key,
    price_of_key,
)
from routines_app.configure.model_words import meanings_of, set_words
from routines_app.configure.models import (
    Unusable,
    UsableModel,
    ask_for_test,
    environment_connections,
    environment_model,
)
from routines_app.models import ModelKey
from routines_app.rules.roster import Tier
from routines_app.web.access import WorkspaceRequest, in_workspace
from routines_app.web.dates import count_words

log = structlog.get_logger()
LOOKS = 60  # one a second, until a test's answer is given up


@dataclass(frozen=True)
class Way:
    """One connection as the page shows it. `key` None: it is the environment's."""

    provider: str
    model: str
    price: Price | None
    address: str = ""
    key: ModelKey | None = None
    asked: int = 0  # looks after a test was asked for; 0: none is awaited

    @property
    def by(self) -> str:
        """The way in a line: whose connection, by which key."""
        if self.key is None:
            return f"{self.provider}, the environment"
        return f"{self.provider}, your key {self.key.last_four}".removesuffix(", your key ")

    @property
    def unpriced(self) -> bool:
        """A model is named, and no run may use it."""
        return bool(self.model) and self.price is None

    @property
    def testing(self) -> bool:
        return self.key is not None and 0 < self.asked <= LOOKS and self.key.tested_at is None

    @property
    def given_up(self) -> bool:
        return self.key is not None and self.asked > LOOKS and self.key.tested_at is None


@dataclass(frozen=True)
class Word:
    """Fast, balanced or deep as the page shows it. `model` None: `why` says what is missing."""

    word: str
    model: UsableModel | None
    by: str
    why: str
    said: str
    wrong: str


def _way(key: ModelKey, asked: int = 0) -> Way:
    return Way(
        PROVIDERS.get(key.provider, key.provider),
        key.model,
        price_of_key(key),
        key.base_url,
        key,
        asked,
    )


def _environments() -> list[Way]:
    found = []
    for connection in environment_connections():
        model = environment_model(connection.provider)
        price = price_of(connection.provider, model) if model else None
        name = PROVIDERS[connection.provider]
        found.append(Way(name, model or "", price, connection.base_url or ""))
    return found


@in_workspace(Role.VIEWER)
@require_GET
def models(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Every connection, with the price of its model."""
    return _page(request)


def _page(
    request: WorkspaceRequest,
    problems: Problems | None = None,
    typed: NewKey | None = None,
    wrong_words: Problems | None = None,
) -> HttpResponse:
    asked = request.GET.get("asked", "")
    keys = ModelKey.objects.filter(workspace=request.workspace).order_by("created_at")
    ways = [_way(key, int(str(key.key) == asked)) for key in keys.select_related("added_by")]
    environment = _environments()
    words = _words(request, wrong_words or {}, ways)
    chosen = {(word.model.name, word.by) for word in words if word.model}
    every = [*environment, *ways]
    stands = standing(account_of(request.workspace), clock.now())
    asks = request.GET.get("provider", "")
    refused = sum(1 for way in ways if way.key and way.key.test_ok is False)
    context = {
        "ways": ways,
        "environment": environment,
        "count": len(every),
        "headline": _headline(every),
        "absent": {
            code: name
            for code, name in PROVIDERS.items()
            if name not in {way.provider for way in every}
        },
        "stands": stands,
        "refused": refused,
        "unpriced": sum(way.unpriced for way in every),
        "priced": [way for way in every if way.price and (way.model, way.by) not in chosen],
        "providers": PROVIDERS,
        "known_models": ModelPrice.objects.order_by("provider", "model").values_list(
            "model", flat=True
        ),
        "problems": problems or {},
        "words": words,
        "wrong_words": wrong_words or {},
        "typed": typed or NewKey(asks if asks in PROVIDERS else "anthropic", "", ""),
        "may_change": request.membership.may(Role.ADMIN),
    }
    status = 422 if problems or wrong_words else 200
    return render(request, "pages/models.html", context, status=status)


def _headline(ways: list[Way]) -> str:
    """How many that a run may use answered their last test; or how many there are of them, while
    one of them wasn't tested."""
    if not ways:
        return "No model is connected yet."
    usable = [way for way in ways if way.model and way.price]
    if not usable:
        return "No model can be used yet."
    answers = [way.key.test_ok if way.key else None for way in usable]
    if None not in answers and any(answers):
        good = answers.count(True)
        return f"{count_words(good).capitalize()} {'is' if good == 1 else 'are'} answering."
    number = count_words(len(usable)).capitalize()
    return f"{number} way{'' if len(usable) == 1 else 's'} to a model."


def _by(model: UsableModel | Unusable, ways: list[Way]) -> str:
    if isinstance(model, Unusable):
        return ""
    name = PROVIDERS[model.connection.provider]
    if model.key_id is None:
        return f"{name}, the environment"
    return next((way.by for way in ways if way.key and way.key.pk == model.key_id), name)


def _words(request: WorkspaceRequest, wrong: Problems, ways: list[Way]) -> list[Word]:
    """What fast, balanced and deep mean; a word that was typed wrongly stays as it was typed."""
    return [
        Word(
            each.tier.value,
            each.model if isinstance(each.model, UsableModel) else None,
            _by(each.model, ways),
            each.model.reason if isinstance(each.model, Unusable) else "",
            request.POST.get(each.tier.value, each.said) if wrong else each.said,
            wrong.get(each.tier.value, ""),
        )
        for each in meanings_of(request.workspace)
    ]


@in_workspace(Role.ADMIN)
@require_http_methods(["GET", "POST"])
def model_words(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Choose what the words mean; a GET is somebody who reloads."""
    if request.method == "GET":
        return redirect("models", workspace_slug)
    chosen = {tier: str(request.POST[tier.value])[:200] for tier in Tier if tier in request.POST}
    wrong = set_words(request.workspace, request.user, chosen)
    if wrong:
        return _page(request, wrong_words=wrong)
    messages.success(request, "The words choose so from the next run on.")
    return redirect("models", workspace_slug)


@in_workspace(Role.ADMIN)
@require_http_methods(["GET", "POST"])
def model_add(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Keep a key; a GET is somebody who reloads."""
    if request.method == "GET":
        return redirect("models", workspace_slug)
    form = request.POST
    new = NewKey(
        provider=form.get("provider", ""),
        model=form.get("model", ""),
        secret=form.get("secret", ""),
        base_url=form.get("base_url", ""),
        input_price=form.get("input_price", ""),
        output_price=form.get("output_price", ""),
    )
    added = add_key(request.workspace, request.user, new)
    if isinstance(added, dict):
        return _page(request, added, new)
    messages.success(request, f"{PROVIDERS[added.provider]} is connected. Test it once.")
    return redirect("models", workspace_slug)


def key_of(request: WorkspaceRequest, key: str) -> ModelKey:
    """The workspace's connection with this key of its own; 404 without one."""
    return get_object_or_404(ModelKey, workspace=request.workspace, key=key)


def asked_for_test(key: ModelKey) -> bool:
    """Have a runner make one small request with it; False when that couldn't be passed on."""
    try:
        ask_for_test(key)
    except OperationalError as error:
        log.warning("test_not_asked", error=str(error))
        return False
    return True


@in_workspace(Role.ADMIN)
@require_http_methods(["GET", "POST"])
def model_test(request: WorkspaceRequest, workspace_slug: str, key: str) -> HttpResponse:
    """Ask a runner for one small request; a GET looks whether its answer is there."""
    row = key_of(request, key)
    asked = 1
    if request.method == "POST":
        asked = 1 if asked_for_test(row) else LOOKS + 1
        row.refresh_from_db()
    elif (look := request.GET.get("look", "")).isdecimal():
        asked = min(int(look[:6]) + 1, LOOKS + 1)  # Python reads no number of thousands of figures
    if not request.htmx:
        return redirect(f"../../?asked={row.key}")
    context = {"way": _way(row, asked), "may_change": True}
    return render(request, "partials/model_way.html", context)
