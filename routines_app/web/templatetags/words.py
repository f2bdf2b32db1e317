"""Filters and tags that say the product's facts in its own words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.html import format_html

from foundation import clock
from routines_app.rules.money import dollars
from routines_app.web.dates import moment_words

register = template.Library()

MINUTE, HOUR, DAY = 60, 3600, 86400  # seconds


@register.filter
def money(micro: int | None) -> str:
    """Micro-dollars as a person reads them: two decimals, `<$0.01` under a cent. None is "".

    >>> money(500_000), money(0), money(900), money(-1_234_560_000)
    ('$0.50', '$0.00', '<$0.01', '−$1,234.56')
    """
    if micro is None:
        return ""
    return dollars(micro)


@register.filter
def duration(length: timedelta | float | None) -> str:
    """A length of time, in seconds when it is a number. None is "".

    >>> duration(188), duration(22), duration(0.42), duration(3840), duration(timedelta(days=2))
    ('3m 08s', '22s', '0.4s', '1h 04m', '2d 0h')
    """
    if length is None:
        return ""
    seconds = length.total_seconds() if isinstance(length, timedelta) else float(length)
    if seconds < 1:
        return f"{max(seconds, 0):.1f}s"
    whole = round(seconds)
    if whole < MINUTE:
        return f"{whole}s"
    if whole < HOUR:
        return f"{whole // MINUTE}m {whole % MINUTE:02d}s"
    if whole < DAY:
        return f"{whole // HOUR}h {whole % HOUR // MINUTE:02d}m"
    return f"{whole // DAY}d {whole % DAY // HOUR}h"


@register.filter
def when(instant: datetime | None) -> str:
    """An instant as `<time>`: relative under a day, then weekday and date. None is "".

    It is told in the viewer's zone, which the middleware has made current; the exact instant is
    in the title.
    """
    if instant is None:
        return ""
    local = timezone.localtime(instant)
    now = timezone.localtime(clock.now())
    exact = f"{local:%A} {local.day} {local:%B %Y}, {local.hour}:{local:%M:%S %Z}"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', local.isoformat(), exact, said(local, now)
    )


def said(instant: datetime, now: datetime) -> str:
    """The words of `when`; both in the zone that they are told in.

    >>> from datetime import UTC
    >>> noon = datetime(2027, 3, 25, 12, tzinfo=UTC)
    >>> said(noon - timedelta(minutes=41), noon), said(noon + timedelta(hours=2), noon)
    ('41 minutes ago', 'in 2 hours')
    >>> said(noon - timedelta(days=2), noon), said(noon + timedelta(days=300), noon)
    ('Tuesday 23 March', 'Wednesday 19 January 2028')
    """
    away = (instant - now).total_seconds()
    size = abs(away)
    if size < MINUTE:
        return "just now" if away <= 0 else "in a moment"
    if size < DAY:
        number, word = (
            (int(size // MINUTE), "minute") if size < HOUR else (int(size // HOUR), "hour")
        )
        words = f"{number} {word}{'' if number == 1 else 's'}"
        return f"in {words}" if away > 0 else f"{words} ago"
    year = "" if instant.year == now.year else f" {instant.year}"
    return f"{instant:%A} {instant.day} {instant:%B}{year}"


@register.filter
def moment(instant: datetime | None) -> str:
    """An instant as `<time>` with its time of day: "9:39", "yesterday, 9:39", then the date.

    For a since or an until, where "41 minutes ago" would be no answer. None is "".
    """
    if instant is None:
        return ""
    local = timezone.localtime(instant)
    today = timezone.localtime(clock.now()).date()
    exact = f"{local:%A} {local.day} {local:%B %Y}, {local.hour}:{local:%M:%S %Z}"
    time = f"{local.hour}:{local:%M}"
    match (local.date() - today).days:
        case 0:
            words = time
        case -1:
            words = f"yesterday, {time}"
        case 1:
            words = f"tomorrow, {time}"
        case days if abs(days) < 7:
            words = f"{local:%A}, {time}"
        case _:
            words = f"{local.day} {local:%B}" + (
                "" if local.year == today.year else f" {local.year}"
            )
    return format_html('<time datetime="{}" title="{}">{}</time>', local.isoformat(), exact, words)


@register.filter
def sentence_moment(instant: datetime) -> str:
    """An instant inside a sentence, as `<time>`: today at 8:03, Monday 22 March at 11:00."""
    zone = timezone.get_current_timezone_name()
    words = moment_words(instant, clock.now(), zone)
    return format_html('<time datetime="{}">{}</time>', instant.isoformat(), words)


@register.filter
def clock_time(instant: datetime | None) -> str:
    """An instant's time of day in the viewer's zone, as the product writes it: 8:03. None is ""."""
    if instant is None:
        return ""
    local = timezone.localtime(instant)
    return f"{local.hour}:{local:%M}"


@register.filter
def counted(number: int, noun: str) -> str:
    """A number with its noun, in words up to twelve: "three machines".

    `noun` is the singular, or singular and plural with a comma between: "person,people".

    >>> counted(3, "machine"), counted(1, "person,people"), counted(40, "run"), counted(0, "run")
    ('three machines', 'one person', '40 runs', 'no runs')
    """
    one, _, many = noun.partition(",")
    word = NUMBERS[number] if 0 <= number < len(NUMBERS) else f"{number:,}"
    return f"{word} {one if number == 1 else many or one + 's'}"


@register.filter
def with_article(noun: str) -> str:
    """A noun with its article.

    >>> with_article("admin"), with_article("member")
    ('an admin', 'a member')
    """
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


@register.filter
def times(number: int) -> str:
    """How often, in words.

    >>> times(1), times(2), times(13), times(0)
    ('once', 'twice', '13 times', 'never')
    """
    few = ("never", "once", "twice")
    return few[number] if 0 <= number < len(few) else counted(number, "time")


@register.filter
def size(count: int | None) -> str:
    """A number of bytes as a person reads it: 412 B, 1.8 KB, 3.8 GB. None is "".

    >>> size(412), size(1_800), size(3_800_000_000), size(999_999)
    ('412 B', '1.8 KB', '3.8 GB', '1 MB')
    """
    if count is None:
        return ""
    value, units = float(count), iter(("B", "KB", "MB", "GB", "TB"))
    unit = next(units)
    while value >= 999.95 and unit != "TB":
        value, unit = value / 1000, next(units)
    return f"{value:.1f}".removesuffix(".0") + f" {unit}"


@register.filter
def unix_moment(seconds: float) -> str:
    """`moment` of a time in Unix seconds, such as a file has."""
    return moment(datetime.fromtimestamp(seconds, UTC))


NUMBERS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
)  # fmt: skip
