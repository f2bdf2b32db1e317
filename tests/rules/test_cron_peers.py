"""Other libraries where the rules agree: plain five-field expressions, away from clock changes."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from croniter import croniter
from cronsim import CronSim

from routines_app.rules.cron import compile_cron

SEED = 77


def _field(rng: random.Random, low: int, high: int) -> str:
    first = rng.randint(low, high - 1)
    last = rng.randint(first + 1, high)
    step = rng.randint(2, max(2, (high - low) // 2))
    listed = sorted(rng.sample(range(low, high + 1), min(3, high - low + 1)))
    return rng.choice(
        ["*", "*", f"*/{step}", str(first), f"{first}-{last}", ",".join(map(str, listed))]
    )


def _expression(rng: random.Random) -> str:
    day, weekday = rng.choice(
        [
            ("*", "*"),
            (_field(rng, 1, 28), "*"),
            ("*", _field(rng, 0, 6)),
            (str(rng.randint(1, 28)), str(rng.randint(0, 6))),
        ]
    )
    months = _field(rng, 1, 12)
    return f"{_field(rng, 0, 59)} {_field(rng, 0, 23)} {day} {months} {weekday}"


@pytest.mark.parametrize("round_", range(60))
def test_plain_expressions_agree_with_both_peers(round_: int) -> None:
    rng = random.Random(SEED * 1000 + round_)
    text = _expression(rng)
    start = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=rng.randrange(500_000))
    ours = compile_cron(text).preview(start, "UTC", 20)
    simulated = CronSim(text, start)
    assert ours == [next(simulated) for _ in range(20)], text
    iterated = croniter(text, start)
    assert ours == [iterated.get_next(datetime) for _ in range(20)], text


@pytest.mark.parametrize("text", ["0 9 L * *", "30 7 * * 5L", "0 9 * * 1#2", "15 6 LW * *"])
def test_special_days_agree_with_cronsim(text: str) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    simulated = CronSim(text, start)
    assert compile_cron(text).preview(start, "UTC", 60) == [next(simulated) for _ in range(60)]
