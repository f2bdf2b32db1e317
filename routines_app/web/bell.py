"""The bell: what rang, in the runs' own sentences, as a page and as a panel over any page."""

import uuid
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import groupby

from django.contrib import messages
from django.db.models import Count, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRedirect

from accounts.models import Role, User
from foundation import clock
from routines_app.delivery.attention import mark_read, mark_unread, rings_of, still_needs, unread
from routines_app.models import Notice, Routine, Run
from routines_app.rules.digest import digest_sentence
from routines_app.rules.sentences import Sentence
from routines_app.rules.status import Shape
from routines_app.web.access import WorkspaceRequest, in_workspace
from routines_app.web.acts import ActLink
from routines_app.web.acts_now import act_now
from routines_app.web.dates import (
    axis_day,
    clock_time,
    count_words,
    day_heading,
    day_of,
    typed_instant,
)
from routines_app.web.failures import Failure, failures_of, turned_itself_off
from routines_app.web.pulse import is_tick, ticking
from routines_app.web.quiet import quiet_act, sentence_of_quiet
from routines_app.web.run_words import instant_words, sentence_for, shape_of

_READ = "bell_read"  # in the session: what was marked as read last, for Undo
PAGE, PANEL = 100, 30  # items


@dataclass(frozen=True)
class BellItem:
    """One ring. `mark` names its row, `own` says whether its routine is this person's; `href` is
    where reading it leads, `act` the one useful thing to do."""

    mark: str
    who: str
    own: bool
    sentence: Sentence
    shape: Shape
    rung_at: datetime
    time: str
    new: bool
    href: str
    act: ActLink | None

    @property
    def second(self) -> str:
        """The second line, ended, since the act follows it."""
        said = self.sentence.second
        return f"{said}." if said and said[-1].isalnum() else said


@dataclass(frozen=True)
class BellGroup:
    """Items beneath one heading: those that need someone, or those of a day."""

    heading: str
    items: list[BellItem]


@dataclass(frozen=True)
class BellList:
    """What the bell shows. `older` is where the list goes on, None at its end."""

    headline: str
    under: str
    groups: list[BellGroup]
    any_new: bool
    older: datetime | None


@in_workspace(Role.VIEWER)
@ticking
@require_GET
def bell(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """The page; the panel's content when htmx asks, the page's parts when the page asks again."""
    if request.htmx and not is_tick(request):
        return _panel(request)
    template = "pages/bell_tick.html" if is_tick(request) else "pages/bell.html"
    return render(
        request, template, _context(request, PAGE, typed_instant(request.GET.get("before", "")))
    )


@in_workspace(Role.VIEWER)
@require_POST
def read_all(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Nothing is unread any more, for this person; Undo knows what was."""
    read = mark_read(rings_of(request.workspace), request.user)
    if not read:
        return _told(request, "There was nothing unread.")
    request.session[_READ] = {"workspace": request.workspace.pk, "notices": read}
    return _told(request, "All is read.", reverse("bell_unread", args=[workspace_slug]))


@in_workspace(Role.VIEWER)
@require_POST
def unread_again(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """What this person last marked as read, all at once, is unread again."""
    last = request.session.pop(_READ, {})
    count = 0
    if last.get("workspace") == request.workspace.pk:
        count = mark_unread(rings_of(request.workspace), request.user, last["notices"])
    return _told(request, "Unread again." if count else "There was nothing to undo.")


def _told(request: WorkspaceRequest, said: str, undo: str = "") -> HttpResponse:
    """In the panel beside its list; else a toast on the page."""
    if request.htmx and request.htmx.target == "bell-panel":
        return _panel(request, said=said, undo=undo)
    messages.info(request, said, extra_tags=undo)
    where = reverse("bell", args=[request.workspace.slug])
    if request.htmx:
        return HttpResponseClientRedirect(where)
    return redirect(where)


def _panel(request: WorkspaceRequest, *, said: str = "", undo: str = "") -> HttpResponse:
    told = {"changed": bool(said), "said": said, "undo": undo}
    return render(request, "partials/bell_panel.html", _context(request, PANEL, None) | told)


def _context(request: WorkspaceRequest, most: int, before: datetime | None) -> dict[str, object]:
    shown = bell_list(request, most, before)
    return {
        "bell_list": shown,
        "may_run": request.membership.may(Role.MEMBER),
        "is_admin": request.membership.may(Role.ADMIN),
        "before": before,
        "key": uuid.uuid4(),
    }


def bell_list(request: WorkspaceRequest, most: int, before: datetime | None) -> BellList:
    """At most so many rings, the newest first, from the beginning or from before an instant."""
    now, person = clock.now(), request.user
    rings = rings_of(request.workspace)
    week = Q(rung_at__gte=now - timedelta(days=7))
    counts = rings.filter(week | Q(needs_someone=True)).aggregate(
        week=Count("pk", filter=week),
        waiting=Count("pk", filter=still_needs(person)),
        needing=Count("pk", filter=Q(needs_someone=True)),
    )
    new = set(unread(rings, person).order_by("-rung_at").values_list("pk", flat=True)[:1000])
    needing = rings.filter(still_needs(person))
    found = _loaded(rings if before is None else rings.filter(rung_at__lt=before), most + 1)
    shown = found[:most]
    needed = _loaded(needing, most) if before is None else []
    marked = {notice.pk for notice in needed}
    items = _items(request, [*needed, *(each for each in shown if each.pk not in marked)], new, now)
    today = day_of(now, person.zone)
    waiting = [_dated(item, today, person.zone) for item in items[: len(needed)]]
    groups = [BellGroup("Needs someone", waiting)] if waiting else []
    groups += [
        BellGroup(day_heading(day, today), list(each))
        for day, each in groupby(
            items[len(needed) :], key=lambda item: day_of(item.rung_at, person.zone)
        )
    ]
    return BellList(
        headline(counts["waiting"], bool(found) or before is not None, counts["needing"]),
        _under(counts["week"]) if found else "",
        groups,
        bool(new),
        shown[-1].rung_at if len(found) > most else None,
    )


def _dated(item: BellItem, today: date, zone: str) -> BellItem:
    """An item that stands beneath no day: its time has the day with it, unless that is today."""
    day = day_of(item.rung_at, zone)
    return item if day == today else replace(item, time=f"{axis_day(day, today)}, {item.time}")


def headline(waiting: int, any_rang: bool, needing: int = 0) -> str:
    """The number on the bell, in words: rings, of which the list's routines are some, and only
    those that this person hasn't read. `needing`: how many need someone, read or not.

    >>> headline(2, True, 2), headline(1, True, 1), headline(0, True)
    ('Two unread rings need someone', 'One unread ring needs someone', 'Nothing needs you.')
    >>> headline(0, True, 1)
    'All read. One still needs someone.'
    """
    if not any_rang:
        return "Quiet. Failures always ring here."
    if waiting:
        rings = "ring needs" if waiting == 1 else "rings need"
        return f"{count_words(waiting).capitalize()} unread {rings} someone"
    if needing:
        verb = "needs" if needing == 1 else "need"
        return f"All read. {count_words(needing).capitalize()} still {verb} someone."
    return "Nothing needs you."


def _under(count: int) -> str:
    return f"{count_words(count).capitalize()} rang in seven days."


def _loaded(rings: QuerySet[Notice], most: int) -> list[Notice]:
    return list(
        rings.select_related(
            "workspace",
            "routine__workspace",
            "run__workspace",
            "run__routine",
            "run__machine",
            "run__fire__requested_by",
            "run__stop_asked_by",
        ).order_by("-rung_at", "-pk")[:most]
    )


def _items(
    request: WorkspaceRequest, notices: list[Notice], new: set[int], now: datetime
) -> list[BellItem]:
    person = request.user
    turned_off = [each.run for each in notices if each.run and _turned_off(each.run)]
    reader = _Reader(person, new, failures_of(turned_off, now, person.zone), now)
    return [
        _digest_item(notice, reader) if notice.run is None else _item(notice, notice.run, reader)
        for notice in notices
    ]


@dataclass(frozen=True)
class _Reader:
    """Whose bell it is, what they haven't read, and the failures that turned routines off."""

    person: User
    new: set[int]
    failures: dict[int, list[Failure]]
    now: datetime


def _turned_off(run: Run) -> bool:
    """Whether the end of this run turned its routine off."""
    return run.facts.get("turned_off") is True


def _digest_item(notice: Notice, reader: _Reader) -> BellItem:
    if notice.routine is not None:
        return _quiet_item(notice, notice.routine, reader)
    now, zone = reader.now, reader.person.zone
    href = reverse("routines", args=[notice.workspace.slug])
    said = digest_sentence(notice.facts, lambda iso: instant_words(iso, now, zone))
    return BellItem(
        mark=f"ring-{slugify(notice.key)}",
        who="This computer" if notice.facts.get("embedded") else "Our scheduler",
        own=False,
        sentence=said,
        shape=Shape.RING,
        rung_at=notice.rung_at,
        time=clock_time(notice.rung_at, zone),
        new=notice.pk in reader.new,
        href=href,
        act=ActLink("See the routines", href),
    )


def _quiet_item(notice: Notice, routine: Routine, reader: _Reader) -> BellItem:
    """The digest of a routine from which nothing useful comes."""
    return BellItem(
        mark=f"ring-{slugify(notice.key)}",
        who=routine.name,
        own=routine.owner_id == reader.person.pk,
        sentence=sentence_of_quiet(notice),
        shape=Shape.RING,
        rung_at=notice.rung_at,
        time=clock_time(notice.rung_at, reader.person.zone),
        new=notice.pk in reader.new,
        href=reverse("routine", args=[notice.workspace.slug, routine.slug]),
        act=quiet_act(routine),
    )


def _item(notice: Notice, run: Run, reader: _Reader) -> BellItem:
    zone, routine = reader.person.zone, run.routine
    where = [notice.workspace.slug, routine.slug]
    sentence = sentence_for(run, zone=zone, now=reader.now)
    act = act_now(sentence.act, run)
    if _turned_off(run):
        sentence = turned_itself_off(reader.failures[run.pk], sentence)
        act = ActLink("See what failed", reverse("routine", args=where))
    return BellItem(
        mark=f"ring-{routine.slug}-{run.number}",
        who=routine.name,
        own=routine.owner_id == reader.person.pk,
        sentence=sentence,
        shape=shape_of(run),
        rung_at=notice.rung_at,
        time=clock_time(notice.rung_at, zone),
        new=notice.pk in reader.new,
        href=reverse("run", args=[*where, run.number]),
        act=act,
    )
