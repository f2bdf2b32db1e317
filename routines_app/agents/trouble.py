"""What went wrong with a request to a model, as a value: may it be tried again, was it paid for?

A provider bills no request that it turned away, so a refusal costs nothing. Where it may have
worked and the answer never came, the request counts at its worst case.
"""

import re
from dataclasses import dataclass

from routines_app.agents.wording import one_line

# Predicates for the sentence "The model …".
NO_ANSWER = "didn't answer"
TURNED_AWAY = "turned it away"
ERRED = "answered with an error"
SAID_NO = "said no"
TOO_LONG = "was sent more than it can read"
BROKE_OFF = "broke off in the middle of its answer"
NO_COUNT = "didn't say what its answer cost"
ELSEWHERE = "sent us to another address"
UNREADABLE = "gave an answer that can't be read"
UNASKED = "couldn't be asked"

REASON = 300  # characters
_WORTH_ANOTHER_TRY = (408, 425, 429)

# Providers send these with the same status as a rate limit, but waiting doesn't help.
_SPENT_OUT = re.compile(
    r"spend(ing)?[ _-]limit|usage limits?\b|credit balance|insufficient[ _]quota|hard[ _]limit"
    r"|out of credit",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Trouble:
    """A request that brought no answer.

    `variant` is a predicate for "The model …"; `reason` is the provider's words; `again`: it may
    pass, so another try is worth it; `wait` the seconds it asked for; `paid` whether it may have
    been billed; `partial` the text that had come when it broke off.
    """

    variant: str
    reason: str
    again: bool = False
    wait: float | None = None
    paid: bool = True
    partial: str = ""


@dataclass
class Exchange:
    """What was seen of one HTTP exchange, from below the provider's library.

    `began` is when it was sent, by `clock.monotonic`; None: it wasn't. `refused` is why its
    address may not be called.
    """

    began: float | None = None
    status: int | None = None
    refused: str = ""


def trouble_of(error: Exception, exchange: Exchange, *, partial: str, secret: str) -> Trouble:
    """Read an error of the model libraries. `secret` is kept out of the reason."""
    from pydantic_ai import exceptions as e

    reason = _reason(error)
    if secret:
        reason = reason.replace(secret, "…")
    if exchange.refused:
        return Trouble(UNASKED, exchange.refused, paid=False)
    if exchange.status is not None and 300 <= exchange.status < 400:
        # Nobody followed it: what was asked, and the key, stayed with the first address.
        return Trouble(ELSEWHERE, f"It answered with a redirect ({exchange.status}).", paid=False)
    begun = exchange.status is not None and exchange.status < 300
    match error:
        case e.ModelContextWindowExceededError():
            return Trouble(TOO_LONG, reason, paid=begun, partial=partial)
        case e.ModelQuotaExceededError():
            return Trouble(SAID_NO, reason, paid=begun, partial=partial)
        case e.ModelRateLimitError() if _SPENT_OUT.search(reason):
            return Trouble(SAID_NO, reason, paid=begun, partial=partial)
        case e.ModelRequestRejectedError():
            return Trouble(SAID_NO, reason, paid=begun, partial=partial)
        case e.ModelRateLimitError() | e.ModelUnavailableError():
            wait = error.retry_after
            return Trouble(TURNED_AWAY, reason, again=True, wait=wait, paid=begun, partial=partial)
        case e.ModelServerError() if _turned_away(exchange.status):
            return Trouble(SAID_NO, reason, paid=False)
        case e.ModelServerError():
            return Trouble(ERRED, reason, again=True, wait=error.retry_after, partial=partial)
        case _ if exchange.began is None:
            return Trouble(UNASKED, reason, paid=False)
        case TimeoutError() | e.ModelTimeoutError() | e.ModelRequestTimeout():
            return Trouble(NO_ANSWER, "It was silent for too long.", again=True, partial=partial)
        case e.ModelConnectionError() if not begun:
            unsent = error.phase in ("pool", "connect")
            return Trouble(NO_ANSWER, reason, again=True, paid=not unsent)
        case e.ModelHTTPError() if not begun:
            return Trouble(SAID_NO, reason, paid=error.status_code >= 500)
        case e.UnexpectedModelBehavior() | ValueError():
            return Trouble(UNREADABLE, reason, partial=partial)
        case _:
            return Trouble(BROKE_OFF, reason, partial=partial)


def _turned_away(status: int | None) -> bool:
    """Whether HTTP says that the request was at fault, whatever name the provider gave its error: a
    gateway may call each of them internal."""
    return status is not None and 400 <= status < 500 and status not in _WORTH_ANOTHER_TRY


def _reason(error: Exception) -> str:
    body = getattr(error, "body", None)
    words = _words(body) or str(error) or type(error).__name__
    return one_line(words, REASON)


def _words(body: object) -> str:
    """A provider's own sentence, wherever its error object keeps it; empty when it isn't there."""
    if isinstance(body, str):
        return body
    if isinstance(body, list) and body:
        return _words(body[0])
    if not isinstance(body, dict):
        return ""
    for name in ("error", "message", "detail"):
        found = _words(body.get(name))
        if found:
            return found
    return ""
