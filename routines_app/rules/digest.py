"""What one ring says that several runs share."""

from collections.abc import Callable, Mapping

from routines_app.rules.reasons import number_word
from routines_app.rules.sentences import Sentence


def digest_sentence(facts: Mapping[str, object], at: Callable[[str], str]) -> Sentence:
    """The digest of runs that were missed while nothing was scanning.

    `facts`: count, routines, embedded, and the ISO instants down_from and down_to, which `at`
    says in the reader's zone.
    """
    count, routines = _int(facts, "count"), _int(facts, "routines")
    runs = "run" if count == 1 else "runs"
    of = "" if count == 1 else f" of {number_word(routines)} routine{'' if routines == 1 else 's'}"
    verb = "was" if count == 1 else "were"
    lead = f"{number_word(count).capitalize()} {runs}{of} {verb} missed"
    begin, end = str(facts.get("down_from") or ""), str(facts.get("down_to") or "")
    what = "this computer was off or asleep" if facts.get("embedded") else "our scheduler was down"
    when = f" from {at(begin)} to {at(end)}" if begin and end else ""
    second = "" if facts.get("embedded") else "That’s on us. "
    return Sentence(lead, f"while {what}{when}.", f"{second}Each has its row.")


def _int(facts: Mapping[str, object], name: str) -> int:
    value = facts.get(name)
    return int(value) if isinstance(value, int | float) else 0
