"""Time zones: IANA names only, from the pinned `tzdata` package, and what their clocks do.

Walls are naive datetimes (what a clock in the zone shows); instants are aware and in UTC.
The application calls `zoneinfo.reset_tzpath(())` at its start, so that `tzdata` is what counts.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib import metadata, resources
from zoneinfo import ZoneInfo

SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)

# No zone has changed twice within this time since 1970 (the closest are seven days apart); a test
# reads every zone to keep it true.
PROBE = timedelta(hours=48)

_OFFSET = re.compile(r"^(UTC|GMT|Z)?\s*[+-]\s*\d{1,2}(:?\d{2})?$", re.IGNORECASE)
_NOT_PLACES = frozenset({"Factory", "localtime", "posixrules"})


@dataclass(frozen=True, slots=True)
class Change:
    """A moment at which a zone's offset changes: `at` is the first instant of the new offset."""

    at: datetime
    before: timedelta
    after: timedelta

    @property
    def forward(self) -> bool:
        """Whether clocks jump ahead, so that wall times are missing."""
        return self.after > self.before

    @property
    def wall_before(self) -> datetime:
        """What the clock would have shown without the change."""
        return self.at.replace(tzinfo=None) + self.before

    @property
    def wall_after(self) -> datetime:
        """What the clock shows at the change."""
        return self.at.replace(tzinfo=None) + self.after


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of real time with one offset: from `start`, up to but without `end`."""

    start: datetime
    end: datetime
    offset: timedelta


@lru_cache(maxsize=1)
def known_zones() -> frozenset[str]:
    """Every zone name that a schedule may keep: canonical names and aliases."""
    text = resources.files("tzdata").joinpath("zones").read_text(encoding="ascii")
    return frozenset(text.split()) - _NOT_PLACES


def data_version() -> str:
    """The version of the pinned zone data; when it changes, every next fire is recomputed."""
    return metadata.version("tzdata")


def check_zone(name: str) -> str | None:
    """None when a schedule may keep the name, otherwise the sentence that says what to do."""
    if name in known_zones():
        return None
    if _OFFSET.match(name.strip()):
        return (
            "An offset doesn't follow clock changes. "
            "Choose a place instead, like Europe/London or America/New_York."
        )
    wanted = name.strip().replace(" ", "_").casefold()
    near = sorted(zone for zone in known_zones() if zone.casefold() == wanted)
    if near:
        return f"Write the zone as {near[0]}."
    if not wanted:
        return "Choose a time zone, like Europe/London."
    return f'There is no time zone called "{name[:40]}". Choose a place, like Europe/London.'


def as_zone(zone: str | ZoneInfo) -> ZoneInfo:
    """The zone of that name. Raises ValueError with a sentence when the name isn't known."""
    if isinstance(zone, ZoneInfo):
        return zone
    refusal = check_zone(zone)
    if refusal is not None:
        raise ValueError(refusal)
    return ZoneInfo(zone)


def wall_at(instant: datetime, zone: ZoneInfo) -> datetime:
    """What the zone's clocks show at the instant (naive; `fold` is 1 in a second pass)."""
    return instant.astimezone(zone).replace(tzinfo=None)


def offset_at(instant: datetime, zone: ZoneInfo) -> timedelta:
    """Local time minus UTC at the instant."""
    offset = instant.astimezone(zone).utcoffset()
    assert offset is not None  # a ZoneInfo always has one
    return offset


def _change_between(low: datetime, high: datetime, zone: ZoneInfo) -> Change:
    """The one change in (low, high]; the offsets at the two ends differ."""
    before = offset_at(low, zone)
    while high - low > SECOND:
        middle = low + SECOND * ((high - low) // SECOND // 2)
        if offset_at(middle, zone) == before:
            low = middle
        else:
            high = middle
    return Change(high, before, offset_at(high, zone))


def changes_between(start: datetime, end: datetime, zone: ZoneInfo) -> Iterator[Change]:
    """Every change in (start, end], oldest first. Whole seconds."""
    while start < end:
        stop = min(start + PROBE, end)
        if offset_at(start, zone) != offset_at(stop, zone):
            yield _change_between(start, stop, zone)
        start = stop


def stretches(start: datetime, end: datetime, zone: ZoneInfo) -> Iterator[Stretch]:
    """The time from `start` up to `end`, cut where the offset changes (and every two days)."""
    while start < end:
        stop = min(start + PROBE, end)
        before, after = offset_at(start, zone), offset_at(stop, zone)
        if before == after:
            yield Stretch(start, stop, before)
        else:
            change = _change_between(start, stop, zone)
            yield Stretch(start, change.at, before)
            if change.at < stop:
                yield Stretch(change.at, stop, after)
        start = stop


def gap_over(wall: datetime, zone: ZoneInfo) -> Change | None:
    """The forward change that skips this wall time; None when the wall time exists."""
    at = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if wall_at(at, zone) == wall:
        return None
    early = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    return _change_between(early, at, zone)


def first_instant(wall: datetime, zone: ZoneInfo) -> datetime:
    """When a fixed wall time happens: its first pass, or the first instant after its gap."""
    at = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if wall_at(at, zone) == wall:
        return at
    gap = gap_over(wall, zone)
    assert gap is not None
    return gap.at


def fold_around(instant: datetime, zone: ZoneInfo) -> Change | None:
    """The backward change whose second pass holds the instant; None outside a second pass."""
    wall = instant.astimezone(zone)
    if not wall.fold:
        return None
    first_pass = wall.replace(fold=0).astimezone(UTC)
    return _change_between(first_pass, instant, zone)


def happens_twice(wall: datetime, zone: ZoneInfo) -> Change | None:
    """The backward change that repeats this wall time; None when it happens once or never."""
    first = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    second = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    if first >= second:
        return None
    return _change_between(first, second, zone)


def place(name: str) -> str:
    """The place in a zone's name: "London", "New York"; "UTC" stays."""
    return name.rsplit("/", 1)[-1].replace("_", " ")


def words(name: str) -> str:
    """The zone as a person says it: "London time", "New York time", "UTC"."""
    short = place(name)
    return short if short in {"UTC", "GMT", "UCT"} else f"{short} time"


@lru_cache(maxsize=1)
def _by_words() -> dict[str, str]:
    """Zone names by their words; a place that two names share belongs to the listed one."""
    table = resources.files("tzdata").joinpath("zoneinfo", "zone.tab").read_text(encoding="utf-8")
    listed = {line.split("\t")[2] for line in table.splitlines() if not line.startswith("#")}
    ordered = sorted(known_zones(), key=lambda name: (name not in listed, len(name), name))
    found: dict[str, str] = {}
    for name in ordered:
        found.setdefault(words(name).casefold(), name)
    return found


def from_words(text: str) -> str | None:
    """The zone that "London time" or a zone name means; None when there is none."""
    text = text.strip()
    if text in known_zones():
        return text
    return _by_words().get(text.casefold())
