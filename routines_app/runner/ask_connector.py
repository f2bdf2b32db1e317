"""Asking an app for its tools, where the library for it may load."""

from dataclasses import replace

from django.conf import settings

from foundation import database_clock
from foundation.crypto import CannotDecrypt
from routines_app.agents.connectors import App, OpenApps
from routines_app.agents.mcp_session import AppTrouble, ListedTool
from routines_app.agents.oauth_offer import NoOffer, discover
from routines_app.configure.app_sign_in import keep_offer
from routines_app.configure.app_tokens import AGAIN, NOBODY
from routines_app.configure.apps import server_of
from routines_app.models import AppSignIn, Connector
from routines_app.runner.apps import state_after


def ask_connector(connector_id: int) -> None:
    """Ask an app for its tools, and keep them, or why there are none, on its row.

    What a person said of a tool stays. A tool that isn't listed any more is forgotten; while an
    app can't be reached, its last list is kept. One that turns us away is asked, with whoever
    signs in for it, how it may be signed in to. Nothing is kept of an answer to a sign-in that
    another has taken the place of meanwhile.
    """
    row = (
        Connector.objects.select_related("workspace", "sign_in")
        .filter(pk=connector_id, removed_at__isnull=True)
        .first()
    )
    if row is None:
        return
    found = _tools_of(row)
    if isinstance(found, AppTrouble) and found.refused:
        found = _told_how_to_sign_in(row, found)
    if not isinstance(found, AppTrouble) and not found:
        found = AppTrouble("It has no tools that can be used.")
    asked_as = _sign_in(row)
    since = None if asked_as is None else asked_as.signed_in_at
    rows = Connector.objects.filter(pk=row.pk, sealed=row.sealed, sign_in__signed_in_at=since)
    now = database_clock.now()
    if isinstance(found, AppTrouble):
        rows.update(**state_after(found), checked_at=now)
        return
    rows.update(**state_after(None), checked_at=now, tools=_tools(row, found))


def _tools_of(row: Connector) -> tuple[ListedTool, ...] | AppTrouble:
    try:
        server = server_of(row)
    except CannotDecrypt:
        return AppTrouble("Its sign-in can’t be read. Enter it again.", refused=True)
    sign_in = _sign_in(row)
    if sign_in is not None and not sign_in.held:
        # Nothing to sign in with: what it says to that tells how it's signed in to now.
        server = replace(server, sign_in=None)
    app = App(row.slug, row.name, (), server)
    with OpenApps((app,)) as apps:
        return apps.list_tools(app, _no_reason_to_stop)


def _told_how_to_sign_in(row: Connector, trouble: AppTrouble) -> AppTrouble:
    """Keep where it may be signed in to, as it says now; and what to tell of being turned away."""
    offer = discover(row.address, trouble.challenge, nearby=settings.NEARBY_MODELS)
    if isinstance(offer, NoOffer):
        if not offer.passing and _sign_in(row) is not None:
            keep_offer(row, None)
        return replace(trouble, sentence=f"{trouble.sentence} {offer.sentence}".strip())
    keep_offer(row, offer)
    before = _sign_in(row)
    if before is not None and before.signed_in_at is not None:
        return trouble if before.held else replace(trouble, sentence=AGAIN)
    return trouble if row.header_names else replace(trouble, sentence=NOBODY)


def _sign_in(row: Connector) -> AppSignIn | None:
    return getattr(row, "sign_in", None)


def _tools(row: Connector, found: tuple[ListedTool, ...]) -> list[dict[str, object]]:
    said = {tool["name"]: tool["changes"] for tool in row.tools if tool.get("by_person")}
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "schema": tool.schema,
            "changes": said.get(tool.name, tool.changes),
            "by_person": tool.name in said,
        }
        for tool in found
    ]


def _no_reason_to_stop() -> None:
    """Each question has a limit of its own."""
