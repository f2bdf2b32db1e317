"""A meter that bills as a provider with prompt caching does: by what a request begins with."""

import json
import math
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from tests.fakes.model_provider import Meter

LEAST = 1_024  # tokens; shorter beginnings aren't kept


@dataclass
class PrefixCache(Meter):
    """Reads from its cache what an earlier request began with too, to the byte, and writes the
    rest. The beginning is the tools, then the system prompt, then the messages.

    For Anthropic's format, whose requests ask to be cached; `asked` counts those that did.
    """

    asked: int = 0
    _kept: list[str] = field(default_factory=list)

    def count(self, raw: bytes) -> tuple[int, int, int]:
        body = json.loads(raw)
        self.asked += "cache_control" in json.dumps(body)
        plain = _without_marks([body.get("tools"), body.get("system"), body["messages"]])
        text = json.dumps(plain)
        longest = max((_alike(text, kept) for kept in self._kept), default=0)
        self._kept.append(text)
        whole = math.ceil(len(text) / self.bytes_per_token)
        cached = int(longest / self.bytes_per_token)
        cached = cached if cached >= LEAST else 0
        return whole, cached, whole - cached


def _alike(one: str, other: str) -> int:
    """How many characters both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _without_marks(value: Any) -> Any:
    """Without the marks that say what to cache: they are no part of what is cached."""
    if isinstance(value, dict):
        return {
            name: _without_marks(each) for name, each in value.items() if name != "cache_control"
        }
    return [_without_marks(each) for each in value] if isinstance(value, list) else value
