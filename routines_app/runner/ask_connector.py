"""Asking an app for its tools, where the library for it may load."""

from foundation import database_clock
from foundation.crypto import CannotDecrypt
from routines_app.agents.connectors import App, OpenApps
from routines_app.agents.mcp_session import AppTrouble, ListedTool
from routines_app.configure.apps import server_of
from routines_app.models import Connector
from routines_app.runner.apps import state_after


def ask_connector(connector_id: int) -> None:
    """Ask an app for its tools, and keep them, or why there are none, on its row.

    What a person said of a tool stays. A tool that isn't listed any more is forgotten; while an
    app can't be reached, its last list is kept.
    """
    row = (
        Connector.objects.select_related("workspace", "sign_in")
        .filter(pk=connector_id, removed_at__isnull=True)
        .first()
    )
    if row is None:
        return
    try:
        app = App(row.slug, row.name, (), server_of(row))
    except CannotDecrypt:
        found: tuple[ListedTool, ...] | AppTrouble = AppTrouble(
            "Its sign-in can’t be read. Enter it again.", refused=True
        )
    else:
        with OpenApps((app,)) as apps:
            found = apps.list_tools(app, _no_reason_to_stop)
    if not isinstance(found, AppTrouble) and not found:
        found = AppTrouble("It has no tools that can be used.")
    rows = Connector.objects.filter(pk=row.pk)
    now = database_clock.now()
    if isinstance(found, AppTrouble):
        rows.update(**state_after(found), checked_at=now)
        return
    rows.update(**state_after(None), checked_at=now, tools=_tools(row, found))


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
