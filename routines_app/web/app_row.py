"""One app as the pages show it: what it can, how it is signed in to, who needs it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import structlog
from django.shortcuts import get_object_or_404
from django.utils import timezone
from kombu.exceptions import OperationalError

from foundation import clock
from routines_app.configure.apps import routines_using
from routines_app.configure.connectors import ask_for_tools
from routines_app.models import AppSignIn, Connector, ConnectorState, Routine
from routines_app.web.access import WorkspaceRequest
from routines_app.web.dates import date_words, moment_words

log = structlog.get_logger()
LOOKS = 60  # one a second, until an app's answer is given up
SOON = timedelta(days=14)  # how long before a sign-in ends it's said


@dataclass(frozen=True)
class AppRow:
    """One app as the pages show it. `asked`: looks after it was asked; 0: nothing is awaited."""

    app: Connector
    using: list[tuple[Routine, bool]]
    asked: int = 0

    @property
    def place(self) -> str:
        """Its address without what every one begins with."""
        return self.app.address.removeprefix("https://")

    @property
    def tools(self) -> str:
        """How many tools it has, and what they do: "9 tools: 5 read, 4 change things"."""
        count = len(self.app.tools)
        changing = sum(1 for tool in self.app.tools if tool["changes"])
        if not count:
            return ""
        said = f"{count} tool{'' if count == 1 else 's'}"
        if not changing:
            return f"{said}, {'which reads' if count == 1 else 'all read'}"
        if changing == count:
            return f"{said}, {'which changes' if count == 1 else 'all change'} things"
        reads = count - changing
        one = f"{reads} read{'s' if reads == 1 else ''}"
        return f"{said}: {one}, {changing} change{'s' if changing == 1 else ''} things"

    @property
    def signed_in(self) -> str:
        """How it is signed in to, and until when; never with what."""
        names, added = self.app.header_names, self.app.added_by
        by = f", put in by {added}" if added else ""
        row = self._sign_in
        if row is not None and row.signed_in_at is not None:
            who = f"igned in by {row.signed_in_by}" if row.signed_in_by else "igned in"
            if not row.held:
                return f"Was s{who}"
            return f"S{who}, until {self.ends or 'it is taken back'}"
        if names:
            return f"By header {' and '.join(names)}{by}"
        return f"{'Not signed in to yet' if self.never else 'Without a sign-in'}{by}"

    @property
    def ends(self) -> str:
        """Until when it's signed in to: a day, and a time if it's near; "" while nobody says."""
        row = self._sign_in
        if row is None or row.ends_at is None:
            return ""
        now, zone = clock.now(), timezone.get_current_timezone_name()
        if row.ends_at - now < timedelta(days=2):
            return moment_words(row.ends_at, now, zone)
        return date_words(timezone.localdate(row.ends_at), timezone.localdate(now))

    @property
    def ends_soon(self) -> bool:
        row = self._sign_in
        there = row is not None and row.ends_at is not None and not self.refused
        return there and row.ends_at - clock.now() < SOON  # type: ignore[union-attr, operator]

    @property
    def never(self) -> bool:
        """It asks to be signed in to, and nobody has done so by any way."""
        row = self._sign_in
        known = row is not None and bool(row.offer) and row.signed_in_at is None
        return known and not self.app.header_names

    @property
    def requiring(self) -> list[Routine]:
        """The routines that don't run without it."""
        return [routine for routine, required in self.using if required]

    @property
    def asking(self) -> bool:
        return 0 < self.asked <= LOOKS and self.app.checked_at is None

    @property
    def given_up(self) -> bool:
        return self.asked > LOOKS and self.app.checked_at is None

    @property
    def refused(self) -> bool:
        return self.app.state == ConnectorState.REFUSED

    @property
    def silent(self) -> bool:
        return self.app.state == ConnectorState.SILENT

    @property
    def _sign_in(self) -> AppSignIn | None:
        return getattr(self.app, "sign_in", None)


def row_of(app: Connector, asked: int = 0) -> AppRow:
    """An app with the routines that use it."""
    return AppRow(app, routines_using(app), asked)


def app_of(request: WorkspaceRequest, key: str) -> Connector:
    """The workspace's app with this key; 404 without one."""
    rows = Connector.objects.select_related("workspace", "added_by", "sign_in__signed_in_by")
    return get_object_or_404(rows, workspace=request.workspace, key=key, removed_at__isnull=True)


def asked_for_tools(app: Connector) -> bool:
    """Have a runner ask it for its tools; False when that couldn't be passed on."""
    try:
        ask_for_tools(app)
    except OperationalError as error:
        log.warning("tools_not_asked", error=str(error))
        return False
    return True
