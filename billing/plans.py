"""What each plan allows. Pure data; money in micro-dollars.

A self-hosted place has no limits of ours: only the owner's monthly budget, if one is set.
"""

from dataclasses import dataclass
from datetime import timedelta

DOLLAR = 1_000_000


@dataclass(frozen=True)
class Plan:
    """One plan. None means without limit.

    `routines`: how many may be on. `runs_a_day`: of one routine, by its schedule and triggers.
    `smallest_gap`: between two due instants of one routine. `machines`, `awake_at_once`: how many
    it may have, and have awake. `credit`: model spending that a month includes, None where none is
    kept (self-hosted). `idle`: how long a machine stays awake unused.
    """

    code: str
    title: str
    routines: int | None
    runs_a_day: int | None
    smallest_gap: timedelta | None
    machines: int | None
    awake_at_once: int | None
    credit: int | None
    idle: timedelta
    price: int = 0


FREE = Plan(
    "free", "Free", 1, 1, timedelta(days=1), 1, 1, 1 * DOLLAR, timedelta(minutes=5)
)  # fmt: skip
PRO = Plan(
    "pro", "Pro", 10, None, timedelta(minutes=15), 2, 2, 20 * DOLLAR, timedelta(minutes=10),
    price=20 * DOLLAR,
)  # fmt: skip
MAX = Plan(
    "max", "Max", 50, None, timedelta(minutes=5), 5, 5, 100 * DOLLAR, timedelta(minutes=20),
    price=100 * DOLLAR,
)  # fmt: skip
TEAM = Plan(
    "team", "Team", 200, None, timedelta(minutes=5), 20, 10, 200 * DOLLAR, timedelta(minutes=30),
    price=200 * DOLLAR,
)  # fmt: skip
SELF_HOSTED = Plan(
    "self-hosted", "Self-hosted", None, None, None, None, None, None, timedelta(minutes=10)
)  # fmt: skip

PLANS: dict[str, Plan] = {plan.code: plan for plan in (FREE, PRO, MAX, TEAM, SELF_HOSTED)}


def plan_of(code: str) -> Plan:
    """The plan of that code. Raises KeyError with the codes that there are."""
    try:
        return PLANS[code]
    except KeyError:
        raise KeyError(f"There is no plan {code!r}. Choose one of {', '.join(PLANS)}.") from None
