"""The ways in which a run ends well by its code and has done nothing: recognised, and named.

Each is a predicate for the sentence "It …"; none at all is "It ran, spent $0.04 and produced
nothing".
"""

import hashlib
import json

from routines_app.agents.wording import one_line, refuses, says_nothing

EMPTY = "gave an empty answer"
REFUSED = "refused"
REPEATED = "repeated itself"
CUT_OFF = "was cut off"
NOTHING = ""

MOST_REPEATS = 4  # answers in a row that bring nothing new, after which a turn is ended
WARNED_AT = 2
WAITED = 15.0  # seconds from which on a call is taken for waiting
MOST_CUT = 3  # answers in a row that run into the limit on one answer
WARNING = (
    "You did exactly this before, with exactly this result. Do something else, or call finish and "
    "say in `blocked` what is in the way."
)
HELD_BACK = "Its provider marked the answer as declined, or a filter held it back."
CUT_REASON = "Each of its last three answers ran into the limit on one answer."


def without_result(headline: str, body: str) -> str | None:
    """How an ending that claims a result has none: NOTHING or REFUSED; None when it has one."""
    if says_nothing(headline) and says_nothing(body):
        return NOTHING
    if refuses(headline if says_nothing(body) else body):
        return REFUSED
    return None


class Progress:
    """Sees whether a turn goes round in circles: each answer's calls, with what came of them.

    An answer is new when one of its calls wasn't made before in this turn with the same arguments
    and the same result, or took so long that it waited for something.
    """

    def __init__(self) -> None:
        self._seen: set[bytes] = set()
        self._new = False
        self._last = ""
        self.repeats = 0
        self.cut = 0

    def called(
        self, name: str, arguments: object, told: str, title: str = "", seconds: float = 0.0
    ) -> None:
        """Note one call, what the model is told of it, and how long it took."""
        key = json.dumps([name, arguments, told], sort_keys=True).encode()
        digest = hashlib.sha256(key).digest()
        self._new = self._new or digest not in self._seen or seconds >= WAITED
        self._seen.add(digest)
        self._last = f"{name}: {title}" if title and title != name else name

    def answered(self, *, cut: bool) -> None:
        """Note that an answer is over; `cut`: it ran into the limit on its length."""
        if self._new:
            self.repeats = self.cut = 0
        elif cut:
            self.cut += 1
        else:
            self.repeats += 1
        self._new = False

    @property
    def over(self) -> bool:
        """Whether the turn has to end: it repeats itself, or each answer is cut off."""
        return self.repeats >= MOST_REPEATS or self.cut >= MOST_CUT

    def facts(self) -> dict[str, object]:
        """What the run's sentence needs, once it's over."""
        if self.cut >= MOST_CUT:
            return {"variant": CUT_OFF, "reason": CUT_REASON}
        last = one_line(self._last, 120)
        return {"variant": REPEATED, "reason": f"The same call brought the same result: {last}."}
