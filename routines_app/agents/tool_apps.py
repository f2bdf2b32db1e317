"""The tools of apps: a call goes to the app, and what it answers comes back as data."""

import json

from foundation import clock
from routines_app.agents.connectors import App
from routines_app.agents.mcp_session import AppTrouble
from routines_app.agents.wording import one_line
from routines_app.agents.workplace import Done, Unwilling, Workplace


def call_title(name: str, arguments: dict[str, object]) -> str:
    """A call as its step is headed: the tool's name, and what it was called with."""
    said = json.dumps(arguments, ensure_ascii=False) if arguments else ""
    return one_line(f"{name} {said}".strip())


class AppUnusable(Unwilling):
    """An app couldn't be asked, for this trouble. `over`: the run needs it, and it is gone."""

    def __init__(self, app: App, trouble: AppTrouble) -> None:
        super().__init__(f"{trouble.sentence} Go on without it, or try it once more.")
        self.app = app
        self.trouble = trouble

    @property
    def over(self) -> bool:
        return self.app.required and (self.trouble.refused or self.trouble.silent)


def call_app(name: str, arguments: dict[str, object], place: Workplace) -> Done:
    """Call a tool of an app. Raises AppUnusable when the app couldn't be asked."""
    if place.apps is None:
        raise Unwilling("No app is connected to this run.")
    left = place.ends_at - clock.monotonic()
    answer = place.apps.call(name, arguments, left, place.check)
    if isinstance(answer, AppTrouble):
        app = place.apps.app_of(name)
        assert app is not None  # it was just called
        raise AppUnusable(app, answer)
    facts: dict[str, object] = {"lines": len(answer.text.splitlines())}
    if answer.failed:
        facts["refused"] = True
    return call_title(name, arguments), answer.text or "(it answered with nothing)", facts
