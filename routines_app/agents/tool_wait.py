"""The agent's own timer inside its turn. It holds nothing open but the turn itself: when the turn
ends, for whatever reason, nothing of it is left. What starts a routine is its schedule, elsewhere.
"""

import time
from datetime import datetime

from foundation import clock
from routines_app.agents.workplace import BadArguments, Done, Unwilling, Workplace

LOOK = 0.4  # seconds between looks at whether the turn has to end
SPARE = 5.0  # seconds of the run's time that a wait leaves, for saying how it went


def schedule(arguments: dict[str, object], place: Workplace) -> Done:
    """Wait for `seconds`, or `until` a time. Raises what `place.check` raises."""
    seconds = _wanted(arguments)
    began = clock.monotonic()
    left = place.ends_at - began - SPARE
    if seconds > left:
        raise Unwilling(
            f"That's {seconds:,.0f} seconds, and this run has time to wait for "
            f"{max(left, 0):,.0f}. Wait for less, or write into state.md what is left to do and "
            "finish: the next run can go on with it."
        )
    until = began + seconds
    while (rest := until - clock.monotonic()) > 0:
        place.check()
        time.sleep(min(LOOK, rest))
    length = f"{seconds:,.0f} second{'' if round(seconds) == 1 else 's'}"
    told = f"Waited {length}. It's {clock.now():%Y-%m-%dT%H:%M:%SZ} now."
    return length, told, {"waited": round(seconds, 1)}


def _wanted(arguments: dict[str, object]) -> float:
    """How many seconds to wait; a time that has passed is none."""
    seconds, until = arguments.get("seconds"), arguments.get("until")
    if (seconds is None) == (until is None):
        raise BadArguments("Give either seconds or until.")
    if until is not None:
        return max((_instant(until) - clock.now()).total_seconds(), 0.0)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        raise BadArguments("Give seconds as a number above 0.")
    return float(min(seconds, 1e9))  # a huge whole number fits no float


def _instant(text: object) -> datetime:
    try:
        found = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        found = None
    if found is None or found.utcoffset() is None:
        raise BadArguments("Give until as a time with its zone, such as 2027-03-22T08:00:00+01:00.")
    return found
