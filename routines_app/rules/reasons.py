"""Why a fire was refused, in words, from what its row kept.

Instants in the facts are ISO texts; `at` says one in the reader's zone ("8:00", "Monday 8:00").
"""

from collections.abc import Callable, Mapping

from routines_app.rules.money import dollars, took
from routines_app.rules.status import RunStatus

_NUMBERS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
)  # fmt: skip


def number_word(count: int) -> str:
    """A small number as a word, a larger one in figures."""
    return _NUMBERS[count] if 0 <= count < len(_NUMBERS) else f"{count:,}"


def reason_words(status: str, facts: Mapping[str, object], at: Callable[[str], str]) -> str:
    """The rest of a refusal's sentence; "" where its own words already say all."""
    match status:
        case RunStatus.SKIP_BUDGET:
            return _budget(facts)
        case RunStatus.SKIP_PLAN_COUNT:
            return _plan_count(facts)
        case RunStatus.SKIP_PLAN_QUOTA:
            return _plan_quota(facts, at)
        case RunStatus.SKIP_TOO_FREQUENT:
            return _too_frequent(facts)
        case RunStatus.SKIP_WAITED if "waited" in facts:
            waited = took(_int(facts, "waited"))
            return f"It waited {waited} for a place, and its time had passed."
        case RunStatus.SKIP_MISSED:
            return _missed(facts, at)
        case _:
            return str(facts.get("reason") or "")


def _budget(facts: Mapping[str, object]) -> str:
    left, amount, limit = _int(facts, "left"), _int(facts, "amount"), _int(facts, "limit")
    if left > 0:
        return f"{dollars(left)} is left and this run may cost {dollars(amount)}."
    if facts.get("kind") == "credit":
        return "No credit is left."
    if facts.get("kind") == "budget":
        return f"The workspace’s {dollars(limit)} for the month is spent."
    return ""


def _plan_count(facts: Mapping[str, object]) -> str:
    if "allowed" not in facts:
        return ""
    allowed, on = _int(facts, "allowed"), _int(facts, "on")
    routines = "routine" if allowed == 1 else "routines"
    are = "is" if on == 1 else "are"
    plan = facts.get("plan") or "The plan"
    return f"{plan} covers {number_word(allowed)} {routines} and {number_word(on)} {are} on."


def _plan_quota(facts: Mapping[str, object], at: Callable[[str], str]) -> str:
    if "allowed" not in facts:
        return ""
    allowed, when = _int(facts, "allowed"), str(facts.get("today_at") or "")
    runs = "run" if allowed == 1 else "runs"
    said = f"{facts.get('plan') or 'The plan'} allows {number_word(allowed)} {runs} a day"
    return f"{said}, and today’s was at {at(when)}." if when and allowed == 1 else f"{said}."


def _too_frequent(facts: Mapping[str, object]) -> str:
    if facts.get("by_person"):
        return "It was asked for more than ten times in an hour."
    if "since_last" not in facts:
        return ""
    since, gap = _int(facts, "since_last"), _int(facts, "smallest_gap")
    return f"It was due {took(since)} after the last one; {facts.get('plan')} waits {took(gap)}."


def _missed(facts: Mapping[str, object], at: Callable[[str], str]) -> str:
    begin, end = str(facts.get("down_from") or ""), str(facts.get("down_to") or "")
    if not (begin and end):
        return ""
    what = "This computer was off or asleep" if facts.get("embedded") else "Our scheduler was down"
    return f"{what} from {at(begin)} to {at(end)}."


def _int(facts: Mapping[str, object], name: str) -> int:
    value = facts.get(name)
    return int(value) if isinstance(value, int | float) else 0
