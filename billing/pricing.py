"""The price table in the database: seeded once, then the operator's."""

from dataclasses import asdict
from datetime import datetime
from typing import get_args

from billing.models import ModelPrice
from billing.prices import LongContext, Price, PricedProvider, seed_price, seed_prices
from foundation import clock


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
    edited = set(ModelPrice.objects.filter(source="operator").values_list("provider", "model"))
    fresh = [row for row in rows if (row.provider, row.model) not in edited]
    ModelPrice.objects.bulk_create(
        fresh,
        update_conflicts=True,
        unique_fields=["provider", "model"],
        update_fields=["input", "output", "cached_input", "cache_write", "tiers"],
    )
    return len(fresh)
