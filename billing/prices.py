"""What a model's tokens cost. Money here is micro-dollars (1,000,000 = $1.00)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Price:
    """Micro-dollars per million tokens; a rate that the provider doesn't have is None."""

    model: str
    input: int
    output: int
    cached_input: int | None = None
    cache_write: int | None = None
