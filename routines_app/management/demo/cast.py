"""Who and what the demo's workspace is made of: its agents, machines and routines, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from routines_app.management.demo import works
from routines_app.management.demo.transcript import Recipe
from routines_app.rules.kinds import ScheduleKind

WEEKS = timedelta(weeks=6)
DESK, STACKS, STUDY, ANNEX, ATTIC = "quay-1", "stacks", "study", "annex", "attic"
GIB = 1024**3

MACHINES: Mapping[str, dict[str, Any]] = {
    DESK: {},
    STACKS: {"memory": 2 * GIB},
    STUDY: {"cpu": 2.0, "memory": 4 * GIB},
    ANNEX: {},
    ATTIC: {"disk": 20 * GIB},
}


@dataclass(frozen=True)
class Hire:
    """One agent beside those that each workspace has. `personas` are its versions, in order.

    `apps` are those that it may use at most since the last one, each with the names of its tools.
    """

    name: str
    purpose: str
    personas: tuple[str, ...]
    apps: tuple[tuple[str, tuple[str, ...]], ...] | None = None


HIRES = (
    Hire(
        "Reader",
        "Reads what is long and says what matters, on one screen.",
        (
            "Read all of it before you write. Be brief.",
            "Read all of it before you write. Be brief. Name who has to act.",
            "Read all of it before you write. One screen at most. Name who has to act, first.",
        ),
        (("catalogue", ("find_title",)),),
    ),
    Hire(
        "Bookkeeper",
        "Adds up, compares with the last time, and shows how.",
        (
            "Check every total twice. Show the sum.",
            "Check every total against a second source. Show the sum, and say what you left out.",
        ),
    ),
)


@dataclass(frozen=True)
class Edit:
    """A change of a routine: days ago, by the guest or by their colleague."""

    days: float
    guest: bool
    changes: Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """One routine of the story.

    `days` is how long ago it was made; `quiet` how often a check finds nothing, or a turn nothing
    new; `seconds` how long a turn usually takes. `earlier` is its schedule until `earlier_days`
    ago.
    """

    name: str
    kind: ScheduleKind
    values: Mapping[str, Any]
    machine: str
    agent: str
    instructions: str
    recipe: Recipe
    days: float = 42
    check: str = ""
    cap: int = 500_000
    quiet: float = 0.0
    seconds: float = 60
    notify: str = "change"
    on: bool = True
    by_guest: bool = True
    edits: tuple[Edit, ...] = ()
    earlier: Mapping[str, Any] | None = None
    earlier_days: float = 0
    folder: str = ""
    conversation: str = "fresh"
    fields: Mapping[str, Any] = field(default_factory=dict)


OFFICE = {"from": 9, "to": 17, "days": [1, 2, 3, 4, 5]}
BACKUP = """\
#!/usr/bin/env bash
set -euo pipefail
./dump.sh "catalogue-$(date +%Y%m%d).sql.zst"
./read-back.sh
"""
SENSORS = """\
#!/usr/bin/env bash
set -euo pipefail
./sensors.sh --compare .routine/last-hour
"""

RESERVATIONS = Part(
    "Reservations desk", ScheduleKind.EVERY_MINUTES, {"every": 30, "window": OFFICE}, DESK,
    "Assistant",
    "File the requests in inbox/new.csv. Look each book up, and write a slip for each that is on\n"
    "the shelf. Those that are out go into the queue. Then move the file to done/.",
    works.reservations, check="test -s inbox/new.csv && wc -l inbox/new.csv", quiet=0.86,
    seconds=46, cap=250_000, notify="failure",
    edits=(
        Edit(11, False, {"cap": 300_000}),
    ),
)  # fmt: skip
BRIEFING = Part(
    "Morning briefing", ScheduleKind.WEEKDAYS, {"times": ["7:50"]}, DESK, "Reader",
    "Write a briefing on one screen of what came in overnight.\n\n"
    "First what somebody has to decide or do, with the name of who it is for. Then the rest in\n"
    "two lines. Say in state.md what you have read, and leave out what yesterday’s had.",
    works.briefing, seconds=175, quiet=0.08,
    edits=(
        Edit(31, True, {"notify": "every"}),
        Edit(17, False, {"cap": 600_000, "time_limit": timedelta(minutes=15)}),
        Edit(6, True, {"notify": "change"}),
    ),
)  # fmt: skip
BACKUP_PART = Part(
    "Overnight backup", ScheduleKind.DAILY, {"times": ["2:15"]}, STACKS, "Script", BACKUP,
    works.backup, seconds=11, by_guest=False, notify="failure",
)  # fmt: skip
TEMPERATURES = Part(
    "Shelf temperatures", ScheduleKind.HOURLY, {"minute": 5}, STACKS, "Script", SENSORS,
    works.temperatures, days=12, seconds=1.2, notify="failure",
)  # fmt: skip
FIGURES = Part(
    "Figures of the week", ScheduleKind.CHOSEN_DAYS, {"days": [1, 4], "times": ["9:40"]}, STUDY,
    "Bookkeeper",
    "Pull the four sheets and write down the week’s loans and visits beside the week before.\n"
    "Check the visits against the door’s counter. Put the chart beside the table.",
    works.figures, seconds=340, cap=1_000_000,
    edits=(
        Edit(33, False, {"instructions": "Pull the four sheets and write down the week’s loans and "
              "visits.\nCheck the visits against the door’s counter."}),
        Edit(19, True, {"instructions": "Pull the four sheets and write down the week’s loans and "
              "visits beside the week before.\nCheck the visits against the door’s counter. Put "
              "the chart beside the table."}),
    ),
)  # fmt: skip
OPENING = Part(
    "Weekend opening hours", ScheduleKind.WEEKENDS, {"times": ["8:00"]}, ANNEX, "Assistant",
    "Compare the opening hours on the site with those on the door, and say so if they differ.",
    works.opening, seconds=22, quiet=0.6, by_guest=False, cap=100_000,
)  # fmt: skip
LINKS = Part(
    "Broken links", ScheduleKind.CRON, {"expressions": ["20 5 * * *"]}, DESK, "Reader",
    "Crawl the library’s site and list the links that lead nowhere, with the page each is on.",
    works.links, seconds=66, quiet=0.3, cap=200_000,
)  # fmt: skip
INTERLIBRARY = Part(
    "Interlibrary requests", ScheduleKind.EVERY_HOURS, {"every": 4, "minute": 15}, STACKS,
    "Assistant", "Answer what other libraries ask us for. Say when we can send it.",
    works.interlibrary, check="python3 tools/fetch.py --new --count", quiet=0.8, seconds=30,
    cap=150_000, by_guest=False, notify="failure", earlier={"every": 6, "minute": 15},
    earlier_days=15,
)  # fmt: skip
RENT = Part(
    "Rent and rates", ScheduleKind.MONTH_DATE, {"day": 5, "times": ["8:00"]}, ANNEX, "Bookkeeper",
    "Compare the month’s bills with the plan and say what is higher.", works.bills,
    seconds=120, cap=300_000,
)  # fmt: skip
MONTH_END = Part(
    "Month-end accounts", ScheduleKind.MONTH_LAST_DAY, {"times": ["18:00"]}, ANNEX, "Bookkeeper",
    "Close the month: add up, compare with the bank’s list, and write the closing note.",
    works.accounts, seconds=210, cap=800_000, notify="every",
)  # fmt: skip
LETTER = Part(
    "Readers’ letter", ScheduleKind.MONTH_WEEKDAY, {"which": 1, "weekday": 2, "times": ["10:00"]},
    ANNEX, "Reader", "Draft the readers’ letter from the month’s briefings. Two hundred words.",
    works.letter, seconds=150, cap=400_000, by_guest=False, conversation="continued",
)  # fmt: skip
FIRE_DRILL = Part(
    "Fire drill reminder", ScheduleKind.YEARLY, {"month": 3, "day": 1, "time": "9:00"}, ANNEX,
    "Assistant", "Write the notice of the yearly fire drill, with this year’s date and door.",
    works.opening, days=20,
)  # fmt: skip
INDEX = Part(
    "Move the map index", ScheduleKind.ONCE, {}, ANNEX, "Script",
    "#!/usr/bin/env bash\nset -euo pipefail\n./move-index.sh maps/ maps-by-sheet/\n",
    works.index, days=16, seconds=38,
)  # fmt: skip
DONATIONS = Part(
    "Sort the donations", ScheduleKind.WHEN_ASKED, {}, STUDY, "Assistant",
    "Sort the box that boxes/latest.csv lists: for the shelves, for the sale, or for neither.",
    works.donations, seconds=95, cap=400_000,
)  # fmt: skip
SUMMER = Part(
    "Summer reading watch", ScheduleKind.EVERY_MINUTES,
    {"every": 15, "window": {"from": 10, "to": 12, "days": [1, 2, 3, 4, 5]}}, ATTIC, "Assistant",
    "Tell me when a reader has finished the summer list.", works.interlibrary, quiet=0.7,
    seconds=24, cap=100_000, check="test -s finished.csv",
)  # fmt: skip
LAPTOPS = Part(
    "Lent laptops", ScheduleKind.WEEKDAYS, {"times": ["12:00"]}, DESK, "Assistant",
    "List the laptops that are overdue.", works.interlibrary, seconds=40, by_guest=False,
)  # fmt: skip
SCANNER = Part(
    "Try the new scanner", ScheduleKind.WEEKDAYS, {"times": ["11:00"]}, ANNEX, "Script",
    "#!/usr/bin/env bash\nset -euo pipefail\n./scan-tray.sh --today\n", works.scan, days=1.2,
    seconds=9, on=False,
)  # fmt: skip

PARTS = (
    RESERVATIONS, BRIEFING, BACKUP_PART, TEMPERATURES, FIGURES, OPENING, LINKS, INTERLIBRARY, RENT,
    MONTH_END, LETTER, FIRE_DRILL, INDEX, DONATIONS, SUMMER, LAPTOPS, SCANNER,
)  # fmt: skip
