"""What the agents of the demo did in each run: transcripts, results and what was remembered."""

from datetime import datetime, timedelta
from random import Random

from routines_app.management.demo.papers import File, page
from routines_app.management.demo.transcript import Work, finished, ran, read, said, wrote
from routines_app.runner.folder import KEPT


def _number(rng: Random, low: int, high: int) -> int:
    return rng.randint(low, high)


def quiet(rng: Random, due: datetime) -> Work:
    """It looked, and nothing had changed."""
    lines = (
        read("state.md", 9, read=_number(rng, 3200, 4200), written=90),
        ran("ls -l --time-style=+%F inbox", "total 0", 0.4, read=4300, written=70),
        finished("nothing changed", False, read=4500, written=40),
    )
    return Work(lines, changed=False)


def reservations(rng: Random, due: datetime) -> Work:
    """Requests for books become slips."""
    count = _number(rng, 2, 9)
    out = _number(rng, 1, count)
    rows = "\n".join(
        f"{2000 + _number(rng, 1, 900)},card {_number(rng, 100, 999)}" for _ in range(count)
    )
    headline = f"{count} requests filed, {out} of them out on loan"
    lines = (
        read("state.md", 8, read=3600, written=110),
        read("inbox/new.csv", count + 1, read=4100 + 60 * count, written=160),
        said(f"{count} new requests. I look each up before a slip is written."),
        ran("python3 tools/find.py inbox/new.csv", rows, 6.0, read=5200, written=380),
        wrote(f"slips/{due:%Y-%m-%d-%H%M}.md", 4 * count, read=6100, written=620),
        ran("mv inbox/new.csv done/", "", 0.2, read=6900, written=80),
        finished(headline, read=7200, written=150),
    )
    body = (
        f"**{count} requests**, oldest first.\n\n- {count - out} on the shelf: slips are in "
        f"`slips/`\n- {out} out on loan: put in the queue\n"
    )
    slip = page(f"Slips of {due:%d %B, %H:%M}", 4 * count, rows.split("\n"))
    files = (
        File(f"slips/{due:%Y-%m-%d-%H%M}.md", slip),
        File("done/new.csv", f"title,card\n{rows}\n"),
    )
    remember = f"last request filed: {due:%d %b %H:%M}, {count} slips"
    return Work(lines, headline, body, True, remember, files, rows)


_TOPICS = (
    "the lift is out of order until Friday",
    "two talks are double-booked for the reading room",
    "the publisher’s invoice is overdue",
    "a school asks for a visit of thirty",
    "the reading group wants a larger table",
    "the boiler’s inspection is due this month",
    "a donation of maps waits at the door",
)


def briefing(rng: Random, due: datetime) -> Work:
    """Overnight mail on one screen."""
    mails = _number(rng, 6, 31)
    first, second = rng.sample(_TOPICS, 2)
    headline = f"{mails} messages read; {first}"
    length = _number(rng, 18, 30)
    lines = (
        read("state.md", 11, read=4200, written=120),
        ran("python3 tools/mail.py --since last", f"{mails} messages", 4.0, read=5100, written=240),
        *(
            read(
                f"mail/{_number(rng, 4000, 4999)}.eml",
                _number(rng, 20, 90),
                read=6200 + 900 * n,
                written=130,
            )
            for n in range(3)
        ),
        said(f"Most of it is routine. Two need somebody: {first}, and {second}."),
        wrote("briefing.md", length, read=11_800, written=940),
        finished(headline, read=12_400, written=160),
    )
    body = (
        f"## What needs somebody\n\n- **{upper(first)}.** Nobody has answered it yet.\n"
        f"- **{upper(second)}.** It has until the end of the week.\n\n"
        f"## The rest\n\n{mails - 2} messages: renewals, thanks and two lost umbrellas. "
        "None needs an answer today.\n"
    )
    said_there = [upper(first), upper(second), *(upper(topic) for topic in _TOPICS)]
    files = (File("briefing.md", page(f"Briefing of {due:%d %B}", length, said_there)),)
    return Work(lines, headline, body, True, f"{due:%d %b}: {first}", files)


def upper(words: str) -> str:
    """Words as a sentence begins."""
    return words[:1].upper() + words[1:]


def backup(rng: Random, due: datetime) -> Work:
    """A script that copies the catalogue and counts."""
    count = 48_200 + due.toordinal() % 400 + _number(rng, 0, 12)
    headline = f"{count:,} records copied and read back"
    output = (
        f"dump: catalogue-{due:%Y%m%d}.sql.zst\nrecords: {count}\nread back: {count}\n"
        f"older than 30 days removed: 1\nreport: {headline}\n"
    )
    lines = (ran("bash script.sh", output, 9.0), finished(headline))
    files = (
        File(f"catalogue-{due:%Y%m%d}.sql.zst", size=40_000 + count % 997),
        File(f"catalogue-{due - timedelta(days=30):%Y%m%d}.sql.zst"),
    )
    remember = f"last good copy: {due:%d %b}, {count:,} records"
    return Work(lines, headline, output, True, remember, files)


def temperatures(rng: Random, due: datetime) -> Work:
    """A script that reads four sensors."""
    warm = _number(rng, 181, 199) / 10
    headline = f"Reading room {warm:.1f} °C, stacks {warm - 2.1:.1f} °C"
    output = (
        f"reading-room {warm:.1f}\nstacks {warm - 2.1:.1f}\nmaps {warm - 3.4:.1f}\n"
        f"loft {warm + 0.7:.1f}\nreport: {headline}\n"
    )
    if rng.random() < 0.7:
        steady = "within half a degree of the last hour\nnothing changed\n"
        lines = (ran("bash script.sh", steady, 0.8), finished("nothing changed", False))
        return Work(lines, changed=False)
    files = (File("readings.csv", adds=f"{due:%Y-%m-%d %H:%M},{warm:.1f},{warm - 2.1:.1f}"),)
    lines = (ran("bash script.sh", output, 0.8), finished(headline))
    return Work(lines, headline, output, files=files)


def figures(rng: Random, due: datetime) -> Work:
    """Loans and visits, each Monday and Thursday."""
    loans, visits = _number(rng, 1400, 2100), _number(rng, 820, 1240)
    change = _number(rng, -9, 14)
    more = f"{abs(change)}% {'more' if change >= 0 else 'fewer'} than the week before"
    headline = f"{loans:,} loans, {more}"
    lines = (
        read("state.md", 14, read=5200, written=140),
        ran("python3 tools/sheets.py pull", "4 sheets, 9,412 rows", 14.0, read=6900, written=320),
        ran(
            "python3 figures.py --week",
            f"loans {loans}\nvisits {visits}",
            22.0,
            read=9400,
            written=780,
        ),
        said("Loans and visits agree with the door’s counter, so no row is left out."),
        ran("python3 figures.py --chart", "figures.png", 8.0, read=12_600, written=540),
        wrote("figures.md", 26, read=15_400, written=1_250),
        finished(headline, read=16_800, written=220),
    )
    body = (
        f"| | this week |\n| --- | --- |\n| loans | {loans:,} |\n| visits | {visits:,} |\n\n"
        f"{upper(more)}. The chart is in `figures.png`.\n"
    )
    rows = [f"loans: {loans:,}", f"visits: {visits:,}", f"{more}", "no row is left out"]
    files = (
        File("figures.md", page(f"The week to {due:%d %B}", 26, rows)),
        File("figures.png", size=18_000 + loans),
    )
    remember = f"{due:%d %b}: {loans:,} loans, {visits:,} visits"
    return Work(lines, headline, body, True, remember, files)


def opening(rng: Random, due: datetime) -> Work:
    """The weekend's opening hours on the door and on the site."""
    headline = "The site and the door say the same hours"
    lines = (
        read("state.md", 6, read=3100, written=90),
        ran(
            "python3 tools/hours.py compare",
            "site 10:00-16:00\ndoor 10:00-16:00",
            2.0,
            read=3900,
            written=180,
        ),
        finished(headline, read=4400, written=90),
    )
    return Work(lines, headline, "Both say 10:00 to 16:00.\n", True, f"compared on {due:%d %b}")


def links(rng: Random, due: datetime) -> Work:
    """Broken links of the site."""
    pages, broken = _number(rng, 210, 240), _number(rng, 1, 5)
    headline = f"{broken} broken link{'' if broken == 1 else 's'} on {pages} pages"
    lines = (
        read("state.md", 7, read=3500, written=90),
        ran("python3 crawl.py", f"{pages} pages\n{broken} broken", 48.0, read=4300, written=210),
        wrote("broken.md", broken + 4, read=6200, written=420),
        finished(headline, read=6800, written=110),
    )
    body = f"{pages} pages were read. {headline}; each is in `broken.md` with the page it is on.\n"
    rows = [f"/pages/{_number(rng, 10, 99)}: 404" for _ in range(broken + 2)]
    files = (File("broken.md", page(f"Broken links, {due:%d %B}", broken + 4, rows)),)
    return Work(lines, headline, body, True, f"{due:%d %b}: {broken} broken", files)


def interlibrary(rng: Random, due: datetime) -> Work:
    """Requests from other libraries."""
    count = _number(rng, 1, 4)
    headline = f"{count} request{'' if count == 1 else 's'} from other libraries answered"
    lines = (
        read("state.md", 9, read=3300, written=100),
        ran("python3 tools/fetch.py --new", f"{count} new", 3.0, read=4100, written=210),
        wrote(f"answers/{due:%Y-%m-%d-%H}.md", 6 * count, read=5600, written=460),
        finished(headline, read=6200, written=120),
    )
    answer = page(f"Answers of {due:%d %B}", 6 * count, ["We have it, and it can be lent."])
    files = (File(f"answers/{due:%Y-%m-%d-%H}.md", answer),)
    return Work(lines, headline, f"{headline}. None is more than a day old.\n", True,
                f"last answered: {due:%d %b %H:%M}", files, f"{count} new")  # fmt: skip


def accounts(rng: Random, due: datetime) -> Work:
    """The month's accounts, or its bills."""
    total = _number(rng, 3_100, 4_900)
    headline = f"The month closes at £{total:,}, £{_number(rng, 20, 190)} under the plan"
    lines = (
        read("state.md", 12, read=4800, written=120),
        read("accounts/month.csv", 212, read=9800, written=260),
        ran("python3 accounts/close.py", f"total {total}", 11.0, read=11_900, written=640),
        wrote("accounts/closing.md", 34, read=13_800, written=1_050),
        finished(headline, read=14_600, written=180),
    )
    rows = [f"in all: £{total:,}", "rent and heating: as planned", "books: a little under"]
    files = (File("accounts/closing.md", page(f"{due:%B}", 34, rows)),)
    remember = f"closed {due:%b} at £{total:,}"
    return Work(lines, headline, f"**£{total:,}** in all.\n", True, remember, files)


def donations(rng: Random, due: datetime) -> Work:
    """A box of given books."""
    count = _number(rng, 18, 64)
    headline = f"{count} books sorted, {count // 4} for the shelves"
    lines = (
        read("state.md", 6, read=3700, written=100),
        read("boxes/latest.csv", count + 1, read=6200, written=240),
        said("Half of these we have twice already. They go to the sale."),
        ran(
            "python3 tools/isbn.py boxes/latest.csv", f"{count} found", 17.0, read=8100, written=420
        ),
        wrote("boxes/sorted.md", count + 6, read=10_400, written=1_400),
        finished(headline, read=11_600, written=130),
    )
    rows = [f"box {_number(rng, 10, 99)}: {where}" for where in ("shelf", "sale", "sale", "sale")]
    files = (File("boxes/sorted.md", page(f"A box of {count}", count + 6, rows)),)
    return Work(lines, headline, f"- shelves: {count // 4}\n- sale: {count - count // 4}\n", True,
                f"{due:%d %b}: a box of {count}", files)  # fmt: skip


def letter(rng: Random, due: datetime) -> Work:
    """The readers' letter of the month."""
    words = _number(rng, 190, 215)
    headline = f"A draft of {words} words; two events still lack a date"
    lines = (
        read("state.md", 10, read=5200, written=110),
        read("briefing.md", 27, read=7400, written=160),
        wrote("letter.md", 22, read=9100, written=880),
        finished(headline, read=9900, written=120),
    )
    body = "The reading group and the map evening have no date yet; both are marked in the draft.\n"
    rows = ["The reading group: no date yet", "The map evening: no date yet", "New on the shelves"]
    files = (File("letter.md", page(f"Letter of {due:%B}", 22, rows)),)
    return Work(lines, headline, body, True, f"{due:%b}: drafted, {words} words", files)


def bills(rng: Random, due: datetime) -> Work:
    """The month's bills beside the plan."""
    more = _number(rng, 12, 88)
    headline = f"Heating is £{more} over the plan, the rest is as planned"
    lines = (
        read("state.md", 8, read=4100, written=100),
        ran("python3 accounts/bills.py --month", "9 bills", 4.0, read=5200, written=210),
        wrote("accounts/bills.md", 14, read=6900, written=520),
        finished(headline, read=7300, written=110),
    )
    rows = [f"heating: £{more} over", "water: as planned", "paper: as planned"]
    files = (File("accounts/bills.md", page(f"Bills of {due:%B}", 14, rows)),)
    return Work(lines, headline, f"{headline}.\n", True, f"{due:%b}: heating £{more} over", files)


def index(rng: Random, due: datetime) -> Work:
    """A script that was needed once."""
    headline = "1,204 sheets moved, none left behind"
    output = f"maps/: 1204\nby-sheet/: 1204\nleft: 0\nreport: {headline}\n"
    lines = (ran("bash script.sh", output, 30.0), finished(headline))
    # of a move each sheet is gone from where it was and new where it is; the first are kept
    kept = KEPT - 1
    files = tuple(File(f"by-sheet/{n:04}.tif", size=1_204_000 + 37 * n) for n in range(1, kept + 1))
    remember = "moved; nothing is left to do"
    return Work(lines, headline, output, True, remember, files, more=2 * 1_204 - kept)


def scan(rng: Random, due: datetime) -> Work:
    """A script that was tried by hand."""
    headline = "12 pages scanned, 1 of them upside down"
    output = f"tray: 12 pages\nturned: page 7\nreport: {headline}\n"
    lines = (ran("bash script.sh", output, 7.0), finished(headline))
    files = tuple(File(f"pages/{n:02}.png", size=21_000 + 113 * n) for n in range(1, 13))
    return Work(lines, headline, output, True, f"tried on {due:%d %b}: 12 pages", files)
