"""The price table in the database: seeded once, then the operator's."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import get_args

import structlog
from django.db import connection, transaction

from billing.models import ModelPrice
from billing.prices import LongContext, Price, PricedProvider, seed_price, seed_prices
from foundation import clock

log = structlog.get_logger()

OPERATOR = "operator"  # the source of a price that somebody edited
_RATES = ("input", "output", "cached_input", "cache_write", "tiers")
_TABLE_LOCK = 7_310_642_002  # any number of our own, the same in every process


def price_of(provider: str, model: str) -> Price | None:
    """The price of a model, or None: then no run may use it.

    A name that the table lacks but the seed knows (a dated name, an alias) is added to the table.
    """
    row = ModelPrice.objects.filter(provider=provider, model=model).first()
    if row is not None:
        long = LongContext(**row.tiers[0]) if row.tiers else None
        return Price(model, row.input, row.output, row.cached_input, row.cache_write, long)
    if provider not in get_args(PricedProvider):
        return None
    known: PricedProvider = provider  # type: ignore[assignment]  # just compared with its members
    price = seed_price(known, model, clock.now())
    if price is not None:
        ModelPrice.objects.bulk_create([_row(provider, model, price)], ignore_conflicts=True)
    return price


def _row(provider: str, model: str, price: Price) -> ModelPrice:
    return ModelPrice(
        provider=provider,
        model=model,
        input=price.input,
        output=price.output,
        cached_input=price.cached_input,
        cache_write=price.cache_write,
        tiers=[asdict(price.long)] if price.long else [],
    )


def seed_price_table(on: datetime) -> int:
    """Add the prices that the table lacks and refresh those that nobody edited; how many rows."""
    rows = [_row(seed.provider, seed.price.model, seed.price) for seed in seed_prices(on)]
    with _held_table():
        edited = set(ModelPrice.objects.filter(source=OPERATOR).values_list("provider", "model"))
        fresh = [row for row in rows if (row.provider, row.model) not in edited]
        ModelPrice.objects.bulk_create(
            fresh,
            update_conflicts=True,
            unique_fields=["provider", "model"],
            update_fields=[*_RATES, "updated_at"],
        )
    return len(fresh)


@contextmanager
def _held_table() -> Iterator[None]:
    """Nobody else seeds or edits meanwhile: a seeding never writes over what an operator says."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_TABLE_LOCK])
        yield


@dataclass(frozen=True)
class NotAPrice:
    """Nothing was changed; the sentence says what to write."""

    sentence: str


def set_price(provider: str, price: Price) -> ModelPrice | NotAPrice:
    """The operator's price of a model, known to the seed or not: it holds for each run that begins
    from now on, and no seeding changes it."""
    if provider not in get_args(PricedProvider):
        return NotAPrice(
            f"{provider!r} has no table of prices. Choose one of: "
            f"{', '.join(get_args(PricedProvider))}. Of another server, a workspace writes the "
            "prices beside its key."
        )
    if not price.model.strip() or len(price.model) > 120:
        return NotAPrice("Write the model's name as its provider does, in 120 letters at most.")
    rates = [price.input, price.output, price.cached_input, price.cache_write]
    if price.long is not None:
        long = price.long
        rates += [long.input, long.output, long.cached_input, long.cache_write]
        if long.above <= 0:
            return NotAPrice("Long requests begin above a number of tokens, at least 1.")
    if any(rate is not None and rate < 0 for rate in rates):
        return NotAPrice("A price can't be below 0.")
    row = _row(provider, price.model, price)
    row.source = OPERATOR
    with _held_table():
        ModelPrice.objects.bulk_create(
            [row],
            update_conflicts=True,
            unique_fields=["provider", "model"],
            update_fields=[*_RATES, "source", "updated_at"],
        )
    log.info("price_set", provider=provider, model=price.model)
    return ModelPrice.objects.get(provider=provider, model=price.model)


def forget_price(provider: str, model: str) -> Price | None:
    """Give up the operator's price: the seed's counts again; None where it has none, and then no
    run uses the model."""
    with _held_table():
        ModelPrice.objects.filter(provider=provider, model=model, source=OPERATOR).delete()
    log.info("price_forgotten", provider=provider, model=model)
    return price_of(provider, model)
