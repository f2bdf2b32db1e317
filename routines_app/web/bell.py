"""The bell: what rang, in the runs' own sentences, as a page and as a panel over any page."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from accounts.models import Role, User
from foundation import clock
from routines_app.delivery.attention import mark_read, rings_of, unread
from routines_app.models import Notice
from routines_app.rules.digest import digest_sentence
from routines_app.rules.sentences import Sentence
from routines_app.rules.status import Shape
from routines_app.web.access import WorkspaceRequest, in_workspace
from routines_app.web.acts import ActLink, act_link
from routines_app.web.dates import clock_time, count_words, day_heading, day_of
from routines_app.web.failures import failures_before, turned_itself_off
from routines_app.web.run_words import instant_words, sentence_for, shape_of

PAGE, PANEL = 100, 30  # items


@dataclass(frozen=True)
class BellItem:
    """One ring. `href` is where reading it leads; `act` the one useful thing to do."""

    who: str
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
@require_GET
def bell(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """The page; the panel's content when htmx asks."""
    if request.htmx:
        return _panel(request)
    return render(request, "pages/bell.html", _context(request, PAGE, _instant(request)))


@in_workspace(Role.VIEWER)
@require_POST
def read_all(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Nothing is unread any more, for this person."""
    read = mark_read(rings_of(request.workspace), request.user)
    if request.htmx:
        return _panel(request, changed=True)
    messages.info(request, "All is read." if read else "There was nothing unread.")
    return redirect("bell", workspace_slug)


def _panel(request: WorkspaceRequest, *, changed: bool = False) -> HttpResponse:
    context = _context(request, PANEL, None) | {"changed": changed}
    return render(request, "partials/bell_panel.html", context)


def _context(request: WorkspaceRequest, most: int, before: datetime | None) -> dict[str, object]:
    shown = bell_list(request, most, before)
    return {
        "bell_list": shown,
        "may_run": request.membership.may(Role.MEMBER),
        "before": before,
        "key": uuid.uuid4(),
    }


def _instant(request: WorkspaceRequest) -> datetime | None:
    try:
        found = datetime.fromisoformat(request.GET.get("before", ""))
    except ValueError:
        return None
    return found if found.tzinfo else None


def bell_list(request: WorkspaceRequest, most: int, before: datetime | None) -> BellList:
    """At most so many rings, the newest first, from the beginning or from before an instant."""
    now, person = clock.now(), request.user
    rings = rings_of(request.workspace)
    new = set(unread(rings, person).order_by("-rung_at").values_list("pk", flat=True)[:1000])
    needing = unread(rings.filter(needs_someone=True), person)
    found = _loaded(rings if before is None else rings.filter(rung_at__lt=before), most + 1)
    shown = found[:most]
    needed = _loaded(needing, most) if before is None else []
    marked = {notice.pk for notice in needed}
    groups = [BellGroup("Needs someone", _items(request, needed, new, now))] if needed else []
    rest = _items(request, [each for each in shown if each.pk not in marked], new, now)
    today = day_of(now, person.zone)
    groups += [
        BellGroup(day_heading(day, today), list(items))
        for day, items in groupby(rest, key=lambda item: day_of(item.rung_at, person.zone))
    ]
    return BellList(
        headline(needing.count(), bool(found) or before is not None),
        _under(rings.filter(rung_at__gte=now - timedelta(days=7)).count()) if found else "",
        groups,
        bool(new),
        shown[-1].rung_at if len(found) > most else None,
    )


def headline(waiting: int, any_rang: bool) -> str:
    """The number on the bell, in words.

    >>> headline(2, True), headline(1, True), headline(0, True)
    ('Two need someone.', 'One needs someone.', 'Nothing needs you.')
    """
    if not any_rang:
        return "Quiet. Failures always ring here."
    if not waiting:
        return "Nothing needs you."
    return f"{count_words(waiting).capitalize()} {'needs' if waiting == 1 else 'need'} someone."


def _under(count: int) -> str:
    return f"{count_words(count).capitalize()} rang in seven days."


def _loaded(rings: QuerySet[Notice], most: int) -> list[Notice]:
    return list(
        rings.select_related(
            "workspace",
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
    return [_item(notice, request.user, notice.pk in new, now) for notice in notices]


def _item(notice: Notice, person: User, new: bool, now: datetime) -> BellItem:
    at = clock_time(notice.rung_at, person.zone)
    if notice.run is None:
        href = reverse("routines", args=[notice.workspace.slug])
        who = "This computer" if notice.facts.get("embedded") else "Our scheduler"
        said = digest_sentence(notice.facts, lambda iso: instant_words(iso, now, person.zone))
        see = ActLink("See the routines", href)
        return BellItem(who, said, Shape.RING, notice.rung_at, at, new, href, see)
    run = notice.run
    sentence = sentence_for(run, zone=person.zone, now=now)
    act = act_link(sentence.act, run)
    href = reverse("run", args=[run.workspace.slug, run.routine.slug, run.number])
    if run.facts.get("turned_off") is True:
        failures = failures_before(run.routine, run.number, now, person.zone)
        sentence = turned_itself_off(failures, sentence)
        act = ActLink(
            "See what failed", reverse("routine", args=[notice.workspace.slug, run.routine.slug])
        )
    return BellItem(
        run.routine.name,
        sentence,
        shape_of(run),
        notice.rung_at,
        at,
        new,
        href,
        act,
    )
