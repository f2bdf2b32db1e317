"""The list of a workspace's routines, and the first page that a new workspace sees."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.models import Role
from foundation import clock
from routines_app.web.access import WorkspaceRequest, in_workspace
from routines_app.web.dates import ahead, clock_time, count_words
from routines_app.web.list_row import ListRow, list_rows
from routines_app.web.pulse import is_tick, ticking
from routines_app.web.ribbon import today_of
from routines_app.web.routine_rows import week_of
from routines_app.web.starters import offered_starters


@dataclass(frozen=True)
class Headline:
    """The page's true sentence; `needs` is the part that needs someone, in red."""

    well: str
    needs: str


def headline(on: int, needs: int, off: int, *, asked: int = 0, paused: bool = False) -> Headline:
    """What the list says of itself. `on` counts those that keep time and need nobody, `off` those
    that don't, `asked` those that have no schedule and wait to be asked. All count routines, and
    the bell counts rings: so each says which.

    >>> headline(5, 1, 0)
    Headline(well='Five are keeping time.', needs='One routine needs you.')
    >>> headline(5, 0, 0, paused=True)
    Headline(well='Everything is paused.', needs='')
    """
    said = count_words(needs).capitalize() if needs else ""
    needed = f"{said} {'routine needs' if needs == 1 else 'routines need'} you." if needs else ""
    if paused:
        return Headline("Everything is paused.", needed)
    if on == 0 and asked:
        verb = "waits" if asked == 1 else "wait"
        return Headline(f"{count_words(asked).capitalize()} {verb} to be asked.", needed)
    if on == 0:
        return Headline("" if needs else "Everything is off.", needed)
    if needs == 0 and off == 0 and asked == 0 and on > 1:
        every = "Both" if on == 2 else f"All {count_words(on)}"
        return Headline(f"{every} are keeping time.", "")
    verb = "is" if on == 1 else "are"
    return Headline(f"{count_words(on).capitalize()} {verb} keeping time.", needed)


@in_workspace(Role.VIEWER)
@ticking
@require_safe
def routines(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """The list; without any routine, the starters. A page that asks again gets the parts alone."""
    workspace = request.workspace
    now = clock.now()
    zone = request.user.zone
    may_run = request.membership.may(Role.MEMBER)
    rows = list_rows(workspace, now, zone)
    if not rows:
        context = {
            "starters": offered_starters(workspace),
            "may_run": may_run,
            "key": uuid.uuid4(),
        }
        return render(request, "routines/first_run.html", context)
    needs = [row for row in rows if row.needs]
    rest = [row for row in rows if not row.needs]
    asked = [row for row in rest if row.asked]
    on = [row for row in rest if not row.asked and row.routine.enabled]
    off = [row for row in rest if not row.asked and not row.routine.enabled]
    paused = workspace.paused_at is not None
    return render(
        request,
        "routines/list_tick.html" if is_tick(request) else "routines/list.html",
        {
            "headline": headline(len(on), len(needs), len(off), asked=len(asked), paused=paused),
            "groups": _groups(needs, on, asked, off),
            "week": week_of(workspace, now),
            "next_words": "" if paused else _next(rows, now, zone),
            "may_run": may_run,
            "is_admin": request.membership.may(Role.ADMIN),
            "today": today_of(
                workspace,
                [row.routine for row in rows],
                now,
                zone,
                late=[row.due for row in rows if row.due],
            ),
            "key": uuid.uuid4(),
        },
    )


def _groups(
    needs: list[ListRow], on: list[ListRow], asked: list[ListRow], off: list[ListRow]
) -> list[tuple[str, list[ListRow]]]:
    named = [("Needs you", needs), ("On", on), ("Only when asked", asked), ("Off", off)]
    return [(name, rows) for name, rows in named if rows]


def _next(rows: list[ListRow], now: datetime, zone: str) -> str:
    """What comes next, and when: "Next: Inbox triage, in 19 minutes"; what waits comes first."""
    late = [(row.due, place) for place, row in enumerate(rows) if row.due]
    if late:
        at, place = min(late)
        return f"Waiting: {rows[place].routine.name}, due at {clock_time(at, zone)}"
    due = [
        (row.routine.next_fire_at, place)
        for place, row in enumerate(rows)
        if row.routine.enabled and row.routine.next_fire_at
    ]
    if not due:
        return ""
    at, place = min(due)
    return f"Next: {rows[place].routine.name}, {ahead(at, now, zone)}"
