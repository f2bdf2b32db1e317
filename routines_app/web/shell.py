"""What every page's frame needs: where one is, where one can go, and how many of each there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

from django.conf import settings
from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import SimpleLazyObject

from accounts.access import workspaces_of
from accounts.models import Membership, User, Workspace
from billing.plans import plan_of
from machines.models import Machine
from routines_app.delivery.attention import how_many_need_someone
from routines_app.models import Agent, Routine
from routines_app.web.banner import Banner, banner_of


@dataclass(frozen=True)
class PlanMeter:
    """The rail's foot: the plan's name, how many routines are on, and of how many.

    `share` is whole percent, None where the plan has no limit.
    """

    title: str
    words: str
    share: int | None
    href: str
    current: bool


@dataclass(frozen=True)
class NavItem:
    """One link of the frame. `count` None shows none; `apart` draws a rule before it."""

    label: str
    href: str
    current: bool
    count: int | None = None
    icon: str = ""
    apart: bool = False


@dataclass(frozen=True)
class Frame:
    """The frame of one page. `workspace` None: there is no rail to show."""

    workspace: Workspace | None
    others: tuple[Workspace, ...]
    nav: tuple[NavItem, ...]
    tabs: tuple[NavItem, ...]
    bell: NavItem | None
    at_me: bool
    banner: Banner | None = None
    settings: NavItem | None = None
    plan: PlanMeter | None = None


def shell(request: HttpRequest) -> dict[str, object]:
    """Template context of the frame. `frame` is computed when a page first asks for it."""
    user = getattr(request, "user", None)
    theme = user.theme if isinstance(user, User) and user.theme in ("light", "dark") else ""
    return {
        "workspace": getattr(request, "workspace", None),
        "membership": getattr(request, "membership", None),
        "theme": theme,
        "frame": SimpleLazyObject(lambda: frame_of(request)),
    }


def frame_of(request: HttpRequest) -> Frame:
    """The frame for this request; outside a workspace it is that of the person's first one."""
    person = getattr(request, "user", None)
    if person is None or not person.is_authenticated:
        return Frame(None, (), (), (), None, False)
    mine = workspaces_of(cast(User, person))
    here: Workspace | None = getattr(request, "workspace", None) or next(iter(mine), None)
    at_me = request.path == reverse("me")
    if here is None:
        return Frame(None, (), (), (), None, at_me)
    places = _Places(request.path, here, cast(User, person))
    return Frame(
        workspace=here,
        others=tuple(other for other in mine if other.pk != here.pk),
        nav=places.nav(),
        tabs=places.tabs(),
        bell=places.bell(),
        at_me=at_me,
        banner=banner_of(here, cast(User, person)),
        settings=places.at("settings", "Settings"),
        plan=places.plan(),
    )


def _number(rows: QuerySet[Any]) -> Coalesce:
    """How many rows there are, as part of another query."""
    counted = rows.order_by().values("workspace").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted), 0)


@dataclass(frozen=True)
class _Places:
    """The pages of one workspace, as this person sees them from the page at `path`."""

    path: str
    workspace: Workspace
    person: User

    def at(self, name: str, label: str, count: int | None = None, **more: object) -> NavItem:
        href = reverse(name, args=[self.workspace.slug])
        return NavItem(label, href, self.path.startswith(href), count, **more)  # type: ignore[arg-type]

    def nav(self) -> tuple[NavItem, ...]:
        count = self.counts
        return (
            self.at("routines", "Routines", count["routine_count"]),
            self.at("machines", "Machines", count["machine_count"]),
            self.at("agents", "Agents", count["agent_count"]),
            self.at("files", "Files"),
            self.at("people", "People", count["person_count"], apart=True),
        )

    @cached_property
    def counts(self) -> Mapping[str, Any]:
        """How many of each there are, in one query."""
        here = Workspace.objects.filter(pk=self.workspace.pk)
        mine = {"workspace": OuterRef("pk")}
        present = {**mine, "deleted_at__isnull": True}
        return here.values(
            plan_code=F("account__plan"),
            on_count=_number(Routine.objects.filter(**present, enabled=True)),
            routine_count=_number(Routine.objects.filter(**present)),
            machine_count=_number(Machine.objects.filter(**present)),
            agent_count=_number(Agent.objects.filter(**present)),
            person_count=_number(Membership.objects.filter(**mine)),
        ).get()

    def tabs(self) -> tuple[NavItem, ...]:
        plus = self._optional("routine_new", "New routine", icon="plus")
        tabs = [
            self.at("routines", "Routines", icon="routines"),
            self.at("machines", "Machines", icon="machines"),
            *([replace(plus, current=False)] if plus else []),
            self.at("files", "Files", icon="files"),
        ]
        elsewhere = not any(tab.current for tab in tabs)
        more = reverse("more", args=[self.workspace.slug])
        return (*tabs, NavItem("More", more, elsewhere, icon="more"))

    def plan(self) -> PlanMeter:
        """How much of the plan's routines is in use."""
        covered, on = plan_of(self.counts["plan_code"] or settings.PLAN), self.counts["on_count"]
        href = reverse("plan", args=[self.workspace.slug])
        if covered.routines is None:
            words, share = f"{on} routine{'' if on == 1 else 's'} on", None
        else:
            words = f"{on} of {covered.routines} routine{'' if covered.routines == 1 else 's'}"
            share = min(100, on * 100 // covered.routines)
        return PlanMeter(covered.title, words, share, href, self.path.startswith(href))

    def bell(self) -> NavItem:
        waiting = how_many_need_someone(self.workspace, self.person)
        return self.at("bell", "Notifications", count=waiting)

    def _optional(self, name: str, label: str, **more: object) -> NavItem | None:
        """A link to a page that may not be served here; None when it isn't."""
        try:
            return self.at(name, label, **more)  # type: ignore[arg-type]
        except NoReverseMatch:
            return None
