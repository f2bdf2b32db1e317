"""A routine's conversation as its pages tell of it."""

from dataclasses import dataclass
from datetime import datetime
from statistics import median_low

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, QuerySet

from routines_app.models import Conversation, ConversationTurn, Routine
from routines_app.rules.money import CENT, dollars
from routines_app.rules.talk import MOST_BYTES, MOST_RUNS, runs_words, tokens_words
from routines_app.web.dates import moment_words

_LAST = 10  # runs whose median says what the conversation adds


@dataclass(frozen=True)
class Told:
    """What a page says of a conversation: its size, what it adds to a run, who began it anew."""

    size: str
    adds: str
    anew: str
    bounds: str = f"{runs_words(MOST_RUNS)} or {tokens_words(MOST_BYTES)}"


def with_turns(routines: QuerySet[Routine]) -> QuerySet[Routine]:
    """The same routines, each read together with what is said of its conversation's turns."""
    turns = ConversationTurn.objects.filter(conversation=OuterRef("pk")).order_by("number")
    return routines.annotate(
        turn_sizes=ArraySubquery(turns.values("size")),
        turn_rereads=ArraySubquery(turns.values("reread")),
    )


def conversation_of(routine: Routine, now: datetime, zone: str) -> Told | None:
    """What is said of a routine's conversation; None where it keeps none and has none left."""
    kept: Conversation | None = getattr(routine, "talk", None)
    turns = _turns(routine, kept) if kept is not None else []
    if not turns and routine.conversation != "continued":
        return None
    added = [reread for _, reread in turns[-_LAST:] if reread]
    anew = ""
    if kept is not None and kept.anew_at is not None:
        anew = f"by {kept.anew_by or 'somebody'} {moment_words(kept.anew_at, now, zone)}"
    size = sum(each for each, _ in turns)
    return Told(
        size=f"{runs_words(len(turns))}, {tokens_words(size)}" if turns else "",
        adds=_about(median_low(added)) if added else "",
        anew=anew,
    )


def _turns(routine: Routine, kept: Conversation) -> list[tuple[int, int]]:
    """Each turn's size and what reading those before it cost, the oldest first."""
    sizes: list[int] | None = getattr(routine, "turn_sizes", None)
    if sizes is None:
        return list(kept.turns.order_by("number").values_list("size", "reread"))
    rereads: list[int] = routine.turn_rereads  # type: ignore[attr-defined]
    return list(zip(sizes, rereads, strict=True))


def _about(micro: int) -> str:
    return "less than a cent" if micro < CENT else f"about {dollars(micro)}"
