"""Money in words. Amounts are integer micro-dollars (1,000,000 = $1.00)."""


def dollars(micro: int) -> str:
    """Two decimals, zero printed, and "<$0.01" for less than a cent.

    >>> dollars(0), dollars(4_000), dollars(500_000), dollars(1_234_560_000)
    ('$0.00', '<$0.01', '$0.50', '$1,234.56')
    """
    if micro < 0:
        return "−" + dollars(-micro)
    if 0 < micro < 10_000:
        return "<$0.01"
    return f"${micro // 10_000 / 100:,.2f}"


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
