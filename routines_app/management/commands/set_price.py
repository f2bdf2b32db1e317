"""Sets what a model's tokens cost; for whoever runs this place."""

from argparse import ArgumentParser
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from billing.prices import MILLION, LongContext, Price
from billing.pricing import NotAPrice, forget_price, set_price

_MOST = Decimal(100_000)  # dollars per million tokens; more is a slip of the finger


class Command(BaseCommand):
    """`set_price openai gpt-6-luna 0.25 2 --cache-read 0.025`."""

    help = (
        "Set a model's price, in dollars per million tokens. It holds for each run that begins "
        "from now on, and seeding leaves it alone."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The model, and its rates."""
        parser.add_argument("provider", help="anthropic, openai or google")
        parser.add_argument("model", help="its name, as its provider writes it")
        parser.add_argument("input", nargs="?", default="", help="dollars per million tokens")
        parser.add_argument("output", nargs="?", default="", help="dollars per million tokens")
        parser.add_argument("--cache-read", default="", help="of tokens read from the cache")
        parser.add_argument("--cache-write", default="", help="of tokens written to the cache")
        parser.add_argument("--long-above", type=int, help="tokens above which the rest holds")
        for name in ("input", "output", "cache-read", "cache-write"):
            parser.add_argument(f"--long-{name}", default="", help="where a request is long")
        parser.add_argument(
            "--seeded", action="store_true", help="give up the price set here for the seed's"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Sets it and says so."""
        provider, model = options["provider"], options["model"]
        if options["seeded"]:
            price = forget_price(provider, model)
            said = _words(price) if price else "no price now, so no run uses it"
            self.stdout.write(f"{provider} {model}: {said}.")
            return
        price = Price(
            model,
            _needed(options, "input"),
            _needed(options, "output"),
            _micro(options, "cache_read"),
            _micro(options, "cache_write"),
            _long(options),
        )
        answer = set_price(provider, price)
        if isinstance(answer, NotAPrice):
            raise CommandError(answer.sentence)
        self.stdout.write(f"{provider} {model}: {_words(price)}.")


def _long(options: dict[str, Any]) -> LongContext | None:
    above = options["long_above"]
    said = [name for name in options if name.startswith("long_") and options[name]]
    if above is None:
        if said:
            raise CommandError("Say with --long-above from how many tokens a request is long.")
        return None
    return LongContext(
        above,
        _needed(options, "long_input"),
        _needed(options, "long_output"),
        _micro(options, "long_cache_read"),
        _micro(options, "long_cache_write"),
    )


def _needed(options: dict[str, Any], name: str) -> int:
    rate = _micro(options, name)
    if rate is None:
        word = f"--{name.replace('_', '-')}" if name.startswith("long") else name
        raise CommandError(f"Write {word}, in dollars per million tokens. 0 is a price.")
    return rate


def _micro(options: dict[str, Any], name: str) -> int | None:
    """Micro-dollars per million tokens, rounded up; None where nothing was said."""
    text = options[name]
    if not text:
        return None
    try:
        dollars = Decimal(text)
    except InvalidOperation:
        dollars = Decimal("NaN")
    if not dollars.is_finite() or not 0 <= dollars <= _MOST:
        raise CommandError(f"{text!r} is no price. Write dollars per million tokens, such as 2.50.")
    return int((dollars * MILLION).to_integral_value(rounding=ROUND_CEILING))


def _words(price: Price) -> str:
    rates = {
        "in": price.input,
        "out": price.output,
        "read from the cache": price.cached_input,
        "written to the cache": price.cache_write,
    }
    said = [f"${_dollars(rate)} {name}" for name, rate in rates.items() if rate is not None]
    if price.long is not None:
        long = price.long
        said.append(
            f"above {long.above:,} tokens ${_dollars(long.input)} in and "
            f"${_dollars(long.output)} out"
        )
    return f"{', '.join(said)}, per million tokens"


def _dollars(micro: int) -> str:
    whole, _, parts = str(Decimal(micro) / MILLION).partition(".")
    return f"{whole}.{parts.ljust(2, '0')}"
