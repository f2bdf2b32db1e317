"""A model's answer as values: what it said, what it called for, and what it cost."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from routines_app.agents.budget import Tokens, bytes_of
from routines_app.agents.trouble import BROKE_OFF, NO_COUNT, Trouble
from routines_app.agents.wording import storable

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

MOST_TOKENS = 1_000_000_000  # of one request; a greater count is a provider's mistake


@dataclass(frozen=True)
class Said:
    """Text in an answer."""

    text: str


@dataclass(frozen=True)
class Called:
    """A tool call in an answer; `arguments` is None where they weren't a JSON object."""

    id: str
    name: str
    arguments: dict[str, object] | None


@dataclass(frozen=True)
class Reply:
    """A whole answer. `cut`: it ran into the limit on its length; `refused`: a filter held it back,
    or the model declined by its provider's own sign.

    `heft` bounds the tokens of the answer as it's sent back with the next request.
    """

    parts: tuple[Said | Called, ...]
    tokens: Tokens
    cut: bool
    refused: bool
    heft: int
    response: "ModelResponse"

    @property
    def text(self) -> str:
        """All of its text, a blank line between its parts."""
        return "\n\n".join(part.text for part in self.parts if isinstance(part, Said)).strip()


def texts_of(event: object) -> Iterator[str]:
    """The text that one event of a stream brings: a new part's after a blank line."""
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

    match event:
        case PartStartEvent(index=index, part=TextPart(content=text)):
            yield f"\n\n{text}" if index else text
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            yield text


def read_answer(response: "ModelResponse") -> Reply | Trouble:
    """A reply of a stream that ended; trouble where its closing event or its count is missing."""
    from pydantic_ai.messages import TextPart, ToolCallPart

    usage = response.usage
    closed = response.finish_reason or (response.provider_details or {}).get("finish_reason")
    partial = response.text or ""
    if not closed:
        return Trouble(BROKE_OFF, "The answer ended without its closing mark.", partial=partial)
    if usage.unmeasured_requests or usage.input_tokens <= 0:
        return Trouble(NO_COUNT, "Its answer came without a count of tokens.", partial=partial)
    plain = usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens
    counts = (plain, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    if min(counts) < 0 or max(counts) > MOST_TOKENS:
        return Trouble(NO_COUNT, "Its count of tokens can’t be true.", partial=partial)
    parts: list[Said | Called] = []
    heft = 0
    for part in response.parts:
        _mend(part)
        match part:
            case TextPart() if part.content.strip():
                parts.append(Said(part.content))
                heft += bytes_of(part.content)
            case ToolCallPart():
                heft += bytes_of(part.args_as_json_str(), part.tool_name, part.tool_call_id)
                arguments = _arguments(part)
                if arguments is None:
                    # Sent back as it came, it would be paid for again with every later request.
                    part.args = {}
                parts.append(Called(part.tool_call_id, part.tool_name, arguments))
            case _:
                pass
    if parts and not usage.output_tokens:
        # what it made would cost nothing, however long it was, and no cap would hold
        return Trouble(NO_COUNT, "Its count of tokens can’t be true.", partial=partial)
    declined = (response.provider_details or {}).get("refusal")
    if isinstance(declined, str) and declined.strip():
        parts.append(Said(storable(declined)))
    return Reply(
        parts=tuple(parts),
        tokens=Tokens(
            input=usage.input_tokens,
            output=usage.output_tokens,
            cached=usage.cache_read_tokens,
            written=usage.cache_write_tokens,
        ),
        cut=response.finish_reason == "length",
        refused=response.finish_reason == "content_filter",
        heft=heft,
        response=response,
    )


def _mend(part: Any) -> None:
    """Take out what no request can carry, since an answer is sent back with the next one: JSON may
    escape half of a surrogate pair, which UTF-8 has no bytes for."""
    for name in ("content", "tool_name", "tool_call_id"):
        text = getattr(part, name, None)
        if isinstance(text, str):
            setattr(part, name, storable(text))


def _arguments(part: Any) -> dict[str, object] | None:
    try:
        found = part.args_as_dict(raise_if_invalid=True)
    except (ValueError, AssertionError):
        return None
    return found if isinstance(found, dict) else None
