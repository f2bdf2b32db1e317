"""What a model's tokens cost. Money here is micro-dollars (1,000,000 = $1.00), never a float.

A cap is only as good as its price: a model without one has no `Price`, and doesn't run. The seed
comes from the data inside the `genai-prices` package, so it needs no network and changes only
when that package is updated.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from genai_prices import types as seed

PricedProvider = Literal["anthropic", "openai", "google"]

MILLION = 1_000_000

# Families that are priced per token but can't hold a conversation with tools.
_NOT_FOR_TURNS = (
    "ada", "audio", "babbage", "computer-use", "curie", "davinci", "deep-research", "embedding",
    "ft:", ".ft-", "image", "instruct", "live", "moderation", "nano-banana", "omni", "oss",
    "realtime", "robotics", "search", "transcribe", "tts", "vision", "whisper",
)  # fmt: skip

# What each word means where a workspace has said nothing else. The first one with a price wins.
_TIERS: dict[str, dict[PricedProvider, tuple[str, ...]]] = {
    "fast": {
        "anthropic": ("claude-haiku-5-5", "claude-haiku-4-5"),
        "openai": ("gpt-6-luna", "gpt-5.6-luna", "gpt-5.4-nano", "gpt-5-nano"),
        "google": ("gemini-3.5-flash-lite", "gemini-3.1-flash-lite", "gemini-2.5-flash-lite"),
    },
    # able enough for errands, far from the dearest
    "balanced": {
        "anthropic": (
            "claude-sonnet-5-5", "claude-sonnet-5", "claude-sonnet-4-6", "claude-sonnet-4-5",
        ),
        "openai": ("gpt-6.1-terra", "gpt-5.6-terra", "gpt-5.4-mini", "gpt-5-mini"),
        "google": ("gemini-3.8-flash", "gemini-3.7-flash", "gemini-3.5-flash", "gemini-2.5-flash"),
    },
    "deep": {
        "anthropic": ("claude-opus-5-5", "claude-opus-5", "claude-opus-4-8", "claude-opus-4-5"),
        "openai": ("gpt-6.1-sol", "gpt-6-sol", "gpt-5.5", "gpt-5"),
        "google": ("gemini-3.1-pro-preview", "gemini-2.5-pro"),
    },
}  # fmt: skip


@dataclass(frozen=True)
class LongContext:
    """The rates of a request whose input is over `above` tokens; they hold for all its tokens."""

    above: int
    input: int
    output: int
    cached_input: int | None = None
    cache_write: int | None = None


@dataclass(frozen=True)
class Price:
    """Micro-dollars per million tokens; a rate that the provider doesn't have is None.

    `cached_input` is for tokens read from the provider's cache, `cache_write` for tokens written
    to it; without such a rate those tokens cost `input`. `long` is None where a request's length
    doesn't change its rates.
    """

    model: str
    input: int
    output: int
    cached_input: int | None = None
    cache_write: int | None = None
    long: LongContext | None = None


@dataclass(frozen=True)
class SeedPrice:
    """One row of the price table as the package has it.

    `context_window` is the most input tokens a request may have, None where it isn't known.
    """

    provider: PricedProvider
    price: Price
    context_window: int | None
    source: str

    def columns(self) -> dict[str, str | int | None]:
        """The row as flat values; the `long_` ones are all None where length doesn't matter."""
        price, long = self.price, self.price.long
        return {
            "provider": self.provider,
            "model": price.model,
            "input": price.input,
            "output": price.output,
            "cached_input": price.cached_input,
            "cache_write": price.cache_write,
            "long_above": None if long is None else long.above,
            "long_input": None if long is None else long.input,
            "long_output": None if long is None else long.output,
            "long_cached_input": None if long is None else long.cached_input,
            "long_cache_write": None if long is None else long.cache_write,
            "context_window": self.context_window,
            "source": self.source,
        }


def cost_of(
    price: Price, *, input_tokens: int, output_tokens: int, cached: int = 0, written: int = 0
) -> int:
    """Micro-dollars of one request, rounded up.

    `input_tokens` counts all of the input: `cached` (read from the cache) and `written` (to it)
    are parts of it. Raises ValueError for a negative count, or parts greater than the whole.
    """
    plain = input_tokens - cached - written
    if min(plain, output_tokens, cached, written) < 0:
        raise ValueError("Token counts can't be negative, nor cached and written exceed the input.")
    rates = _rates(price, input_tokens)
    total = (
        plain * rates.input
        + cached * _or_input(rates.cached_input, rates)
        + written * _or_input(rates.cache_write, rates)
        + output_tokens * rates.output
    )
    return -(-total // MILLION)


def worst_cost_of(price: Price, *, input_tokens: int, output_tokens: int) -> int:
    """The most that a request of at most so many tokens can cost, whatever the cache does."""
    return max(
        -(-(most * _dearest(rates) + output_tokens * rates.output) // MILLION)
        for rates, most in _possible(price, input_tokens)
    )


def output_within(price: Price, *, input_tokens: int, left: int) -> int:
    """The most output tokens that still fit in `left` micro-dollars; 0 or less: none do."""
    return min(
        _output_at(rates, left * MILLION - most * _dearest(rates))
        for rates, most in _possible(price, input_tokens)
    )


def seed_prices(on: datetime) -> list[SeedPrice]:
    """Every model for turns that the package prices, as of `on`, for the three providers."""
    found: list[SeedPrice] = []
    for provider in get_args(PricedProvider):
        for model in _catalogue(provider).models:
            if model.deprecated or not _for_turns(provider, model.id):
                continue
            row = _seed(provider, model, model.id, on)
            if row is not None:
                found.append(row)
    return found


def seed_price(provider: PricedProvider, model: str, on: datetime) -> Price | None:
    """The price of a model by any name that its provider knows it by; None: no price, no run."""
    match = _catalogue(provider).find_model(model)
    if match is None:
        return None
    row = _seed(provider, match, model, on)
    return None if row is None else row.price


def default_model(provider: str, tier: str = "balanced") -> str | None:
    """A fast, balanced or deep model with a price; None where there's no such thing (a compatible
    server). Raises KeyError for another word.
    """
    for known, names in _TIERS[tier].items():
        if known == provider:
            there = {model.id for model in _catalogue(known).models if not model.deprecated}
            return next((name for name in names if name in there), None)
    return None


def _rates(price: Price, input_tokens: int) -> Price | LongContext:
    if price.long is not None and input_tokens > price.long.above:
        return price.long
    return price


def _possible(price: Price, input_tokens: int) -> list[tuple[Price | LongContext, int]]:
    """The rates that a request of at most so many tokens may meet, and its most tokens at them.

    Both, where it may be long: it may turn out short, and an operator's price may be the dearer
    one there.
    """
    if price.long is None or input_tokens <= price.long.above:
        return [(price, input_tokens)]
    return [(price, price.long.above), (price.long, input_tokens)]


def _dearest(rates: Price | LongContext) -> int:
    return max(rates.input, rates.cache_write or 0, rates.cached_input or 0)


def _output_at(rates: Price | LongContext, room: int) -> int:
    if rates.output == 0:
        return 0 if room < 0 else MILLION
    return room // rates.output


def _or_input(rate: int | None, rates: Price | LongContext) -> int:
    return rates.input if rate is None else rate


def _catalogue(provider: PricedProvider) -> "seed.Provider":
    # Imported here: building the catalogue takes most of a second, and few processes need it.
    from genai_prices.data_snapshot import get_snapshot

    return next(each for each in get_snapshot().providers if each.id == provider)


def _for_turns(provider: PricedProvider, name: str) -> bool:
    if provider == "google" and not name.startswith("gemini-"):
        return False
    return not any(part in name for part in _NOT_FOR_TURNS)


def _seed(
    provider: PricedProvider, model: "seed.ModelInfo", name: str, on: datetime
) -> SeedPrice | None:
    prices = model.get_prices(on)
    paid, made = _steps(prices.input_mtok), _steps(prices.output_mtok)
    if paid is None or made is None:
        return None
    kept, wrote = _steps(prices.cache_read_mtok), _steps(prices.cache_write_mtok)
    all_steps = [each for each in (paid, made, kept, wrote) if each is not None]
    starts = [start for _, start, _ in all_steps if start is not None]
    long = None
    if starts:
        # One threshold for all, the earliest: where they differ, the cap errs to the safe side.
        long = LongContext(
            above=min(starts),
            input=paid[2],
            output=made[2],
            cached_input=None if kept is None else kept[2],
            cache_write=None if wrote is None else wrote[2],
        )
    price = Price(
        model=name,
        input=paid[0],
        output=made[0],
        cached_input=None if kept is None else kept[0],
        cache_write=None if wrote is None else wrote[0],
        long=long,
    )
    return SeedPrice(provider, price, model.context_window, "genai-prices")


def _steps(rate: Any) -> tuple[int, int | None, int] | None:
    """(base rate, where the long context starts, its rate) of a rate in dollars; None: no rate."""
    if rate is None:
        return None
    if isinstance(rate, Decimal):
        return _micro(rate), None, _micro(rate)
    dearest = max([rate.base, *(tier.price for tier in rate.tiers)])
    return _micro(rate.base), min(tier.start for tier in rate.tiers), _micro(dearest)


def _micro(dollars: Decimal) -> int:
    return int((dollars * MILLION).to_integral_value(rounding=ROUND_CEILING))
