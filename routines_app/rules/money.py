"""Money in words. Amounts are integer micro-dollars (1,000,000 = $1.00)."""

CENT = 10_000


def dollars(micro: int) -> str:
    """Two decimals, to the nearest cent, zero printed, and "<$0.01" for less than a cent.

    >>> dollars(0), dollars(4_000), dollars(500_000), dollars(1_234_560_000), dollars(-225_000)
    ('$0.00', '<$0.01', '$0.50', '$1,234.56', '−$0.23')
    """
    if micro < 0:
        return "−" + dollars(-micro)
    if 0 < micro < CENT:
        return "<$0.01"
    cents = (micro + CENT // 2) // CENT
    return f"${cents // 100:,}.{cents % 100:02}"


def lasted(seconds: float) -> str:
    """How long something took that is over: rounded in this one way, so that figures which stand
    beside each other agree.

    >>> lasted(1.23), lasted(14.97), lasted(60.4)
    ('1.2s', '14s', '1m 00s')
    """
    return took(round(seconds, 1) if seconds < 10 else int(seconds))


def took(seconds: float) -> str:
    """A length of time as people write it.

    >>> took(0.42), took(22), took(188), took(3_720)
    ('0.4s', '22s', '3m 08s', '1h 02m')
    """
    if seconds < 10 and seconds != int(seconds):
        return f"{seconds:.1f}s"
    whole = int(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02d}m"
