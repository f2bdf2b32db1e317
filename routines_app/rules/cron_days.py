"""Which dates a cron expression means: dates, weekdays, L, W and #."""

from calendar import isleap
from dataclasses import dataclass, field
from datetime import date

MONTH_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def month_length(year: int, month: int) -> int:
    """Days in the month."""
    return 29 if month == 2 and isleap(year) else MONTH_LENGTHS[month - 1]


@dataclass(frozen=True)
class DayRule:
    """The day of the month and the weekday fields together. Weekdays: 0 is Sunday."""

    dates: frozenset[int]
    from_end: frozenset[int]  # 0 is the last day, 2 is two days before it
    nearest: int | None  # the working day nearest to this date
    last_working: bool
    weekdays: frozenset[int]
    nth: frozenset[tuple[int, int]]  # (weekday, 1 to 5)
    last: frozenset[int]  # the last such weekday of the month
    either: bool  # both fields restricted: a day that matches one of them is enough
    _known: dict[tuple[int, int], tuple[int, ...]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @property
    def any_date(self) -> bool:
        """Whether the day of the month doesn't matter."""
        return len(self.dates) == 31

    @property
    def any_weekday(self) -> bool:
        """Whether the weekday doesn't matter."""
        return len(self.weekdays) == 7

    def days_of(self, year: int, month: int) -> tuple[int, ...]:
        """The matching days of the month, in order."""
        length = month_length(year, month)
        first = date(year, month, 1).isoweekday() % 7
        days = self._known.get((length, first))
        if days is None:
            days = self._known[length, first] = tuple(
                day for day in range(1, length + 1) if self._matches(day, length, first)
            )
        return days

    def same_days(self, other: "DayRule") -> bool:
        """Whether both mean the same days in every month that there can be."""
        return all(
            self.days_of(year, month) == other.days_of(year, month)
            for year in range(2000, 2028)  # 28 years hold every shape of year
            for month in range(1, 13)
        )

    def _matches(self, day: int, length: int, first: int) -> bool:
        by_date = self._date_matches(day, length, first)
        by_weekday = self._weekday_matches(day, length, first)
        return by_date or by_weekday if self.either else by_date and by_weekday

    def _date_matches(self, day: int, length: int, first: int) -> bool:
        if day in self.dates or length - day in self.from_end:
            return True
        if self.last_working and day == nearest_working_day(length, length, first):
            return True
        wanted = self.nearest
        if wanted is None or wanted > length:
            return False
        return day == nearest_working_day(wanted, length, first)

    def _weekday_matches(self, day: int, length: int, first: int) -> bool:
        weekday = (first + day - 1) % 7
        return (
            weekday in self.weekdays
            or (weekday, (day - 1) // 7 + 1) in self.nth
            or (weekday in self.last and day + 7 > length)
        )


def nearest_working_day(day: int, length: int, first: int) -> int:
    """The Monday-to-Friday day nearest to `day`, without leaving its month.

    `length` is the month's length; `first` is the weekday of its first day, 0 for Sunday.
    """
    weekday = (first + day - 1) % 7
    if weekday == 6:
        return day - 1 if day > 1 else day + 2
    if weekday == 0:
        return day + 1 if day < length else day - 2
    return day
