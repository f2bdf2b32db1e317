"""A run's apps: those that it requires are reached before anything is done or spent."""

from foundation import database_clock
from routines_app.agents.connectors import OpenApps
from routines_app.agents.mcp_session import AppTrouble
from routines_app.configure.app_sign_in import ask_for_more
from routines_app.models import Connector, ConnectorState, Run
from routines_app.rules.status import RunStatus
from routines_app.runner.ending import Ending
from routines_app.runner.patience import patiently
from routines_app.runner.steps import StoredSteps


def without_its_apps(apps: OpenApps, run: Run, steps: StoredSteps) -> Ending | None:
    """How a run ends that can't reach an app that it requires; None when it reaches them all.

    Raises TurnInterrupted when the run has to end, or isn't ours any more.
    """
    found = apps.open_required(steps.check)
    if found is None:
        return None
    app, trouble = found
    note_apps(apps, run.workspace_id)
    return Ending(RunStatus.SKIP_CONNECTOR, {"reason": app.name, "variant": trouble.sentence})


def note_apps(apps: OpenApps, workspace_id: int) -> None:
    """Keep on the apps' rows what a run found out about them."""
    for slug in sorted(apps.opened | set(apps.troubles)):
        patiently(lambda slug=slug: _note(apps, slug, workspace_id))  # type: ignore[misc]


def _note(apps: OpenApps, slug: str, workspace_id: int) -> None:
    rows = Connector.objects.filter(workspace_id=workspace_id, slug=slug, removed_at__isnull=True)
    now = database_clock.read_there()
    trouble = apps.troubles.get(slug)
    rows.update(**state_after(trouble), checked_at=now)
    if slug in apps.called:
        rows.update(called_at=now)
    if trouble is not None and trouble.challenge:
        for app_id in rows.values_list("pk", flat=True):
            ask_for_more(app_id, trouble.challenge)


def state_after(trouble: AppTrouble | None) -> dict[str, str]:
    """An app's state and trouble as its row keeps them, once it has been asked."""
    if trouble is None:
        return {"state": ConnectorState.CONNECTED, "trouble": ""}
    state = ConnectorState.REFUSED if trouble.refused else ConnectorState.SILENT
    return {"state": state, "trouble": trouble.sentence[:300]}
