"""How much of a routine's conversation goes on into its next run.

Turns are dropped whole, the oldest first. Once a bound is met the rest is brought to half of it:
dropping one turn before each run would change the beginning of every request, and nothing of it
could come from a provider's cache.
"""

from collections.abc import Sequence

MOST_RUNS = 20
MOST_BYTES = 100_000  # as the cap counts them; about 25,000 tokens
BYTES_A_TOKEN = 4  # as text usually goes; only for what is told to people


def how_many_to_drop(sizes: Sequence[int], most_bytes: int) -> int:
    """How many of the oldest turns don't go on, given the bytes of each, the oldest first.

    >>> how_many_to_drop([400, 400, 400], 1_200)
    0
    >>> how_many_to_drop([400, 400, 400], 1_000)
    2
    >>> how_many_to_drop([400, 400, 400], 300)
    3
    """
    most = min(most_bytes, MOST_BYTES)
    if len(sizes) <= MOST_RUNS and sum(sizes) <= most:
        return 0
    dropped = 0
    runs = MOST_RUNS // 2 if len(sizes) > MOST_RUNS else MOST_RUNS
    room = most // 2 if sum(sizes) > most else most
    while (
        dropped < len(sizes)
        and (
            len(sizes) - dropped > runs
            # the newest stays alone where it fits at all
            or sum(sizes[dropped:]) > (most if dropped == len(sizes) - 1 else room)
        )
    ):
        dropped += 1
    return dropped


def about_tokens(size: int) -> int:
    """About how many tokens so many bytes are."""
    return -(-size // BYTES_A_TOKEN)


def tokens_words(size: int) -> str:
    """About how many tokens so many bytes are, in words.

    >>> tokens_words(33_180)
    'about 8,300 tokens'
    >>> tokens_words(300)
    'about 80 tokens'
    """
    tokens = about_tokens(size)
    step = 100 if tokens >= 1_000 else 10
    return f"about {max(round(tokens / step) * step, step):,} tokens"


def runs_words(count: int) -> str:
    """
    >>> runs_words(1)
    '1 run'
    """
    return f"{count:,} run{'' if count == 1 else 's'}"
