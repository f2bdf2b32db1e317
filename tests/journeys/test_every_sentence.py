"""Every kind of sentence in a real browser: made, saved, reopened and saved again unchanged."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from routines_app.configure.content import RoutineContent
from routines_app.rules.kinds import schedule_of
from routines_app.web.form_state import FormState, state_of
from routines_app.web.sentence import OPTIONS
from tests.browser import sign_up
from tests.running_app import RunningApp

pytestmark = [pytest.mark.browser]

SLOW = 30_000  # milliseconds
WORKDAYS = [1, 2, 3, 4, 5]
KINDS: dict[str, dict[str, Any]] = {
    "weekdays": {"times": ["8:00"]},
    "daily": {"times": ["8:00", "17:30"]},
    "weekends": {"times": ["9:00"]},
    "chosen_days": {"days": [2, 6], "times": ["0:15"]},
    "hourly": {"minute": 5, "window": {"from": 9, "to": 17, "days": WORKDAYS}},
    "every_hours": {"every": 4, "minute": 30},
    "every_minutes": {"every": 15},
    "month_date": {"day": 31, "times": ["9:00"]},
    "month_last_day": {"times": ["9:00"]},
    "month_weekday": {"which": "last", "weekday": 5, "times": ["16:00"]},
    "yearly": {"month": 2, "day": 29, "time": "12:00"},
    "once": {"at": "2095-03-30T09:00:00+01:00"},
    "when_asked": {},
    "cron": {"expressions": ["0 8 * * MON", "15 30 9 1 * *"]},
}


@pytest.fixture
def home(page: Page, new_app: Callable[..., RunningApp]) -> str:
    """The routines' address of somebody who has just signed up."""
    app = new_app()
    app.start()
    sign_up(page, app.url)
    return f"{app.url}/w/ada/routines/"


def choose(page: Page, select: str, value: str) -> None:
    """Take an option, and wait for the sentence that comes back: it takes the place of this one."""
    page.locator("#sentence").evaluate("it => it.setAttribute('data-before', '')")
    page.locator(select).select_option(value)
    expect(page.locator("#sentence[data-before]")).to_have_count(0, timeout=SLOW)


def fill(page: Page, wanted: FormState) -> None:
    """The sentence filled as a person fills it; each blank is left, so that it settles."""
    choose(page, "#every", wanted.every)
    expect(page.locator(f"input[name=was][value={wanted.every}]")).to_have_count(1)
    if wanted.window:
        choose(page, "#window", wanted.window)
        choose(page, "#window_from", wanted.window_from)
        choose(page, "#window_to", wanted.window_to)
    for name in sorted(wanted.blanks - {"every", "window", "agent", "machine", "zone"}):
        value = getattr(wanted, name)
        if name == "days":
            for box in page.locator("#days input[type=checkbox]").all():
                box.set_checked(box.get_attribute("value") in value)
        elif name == "times":
            for place, text in enumerate(value, start=1):
                if place > 1:
                    page.get_by_role("button", name="Add a time").click()
                    expect(page.get_by_label(f"Time of day, number {place}")).to_be_focused()
                page.locator("#times" if place == 1 else f"#times-{place}").fill(text)
        elif page.locator(f"select#{name}").count():
            choose(page, f"#{name}", value)
        else:
            page.locator(f"#{name}").fill(value)
    if "zone" in wanted.blanks:
        choose(page, "#zone", "Europe/London")


def shown(page: Page) -> list[list[str]]:
    """What the sentence's controls hold, in order; a box only while it is checked."""
    return page.locator("#sentence").evaluate(  # type: ignore[no-any-return]
        """set => [...set.querySelectorAll("select, input:not([name=at])")]
          .filter((field) => field.type !== "checkbox" || field.checked)
          .map((field) => [field.name, field.value])"""
    )


def test_every_kind_is_made_saved_reopened_and_saved_unchanged(page: Page, home: str) -> None:
    assert set(KINDS) == {option.kind.value for option in OPTIONS}
    page.set_default_timeout(SLOW)
    for kind, values in KINDS.items():
        schedule = schedule_of(next(o.kind for o in OPTIONS if o.kind == kind), values, "UTC")
        if kind == "once":
            schedule = schedule_of(schedule.kind, values, "Europe/London")
        wanted = state_of(RoutineContent("", "", None, None, schedule), 1)
        page.goto(f"{home}new/")
        fill(page, wanted)
        page.locator("#instructions").fill("echo 'report: done'")
        page.get_by_label("Name").fill(f"A {kind.replace('_', ' ')} one")
        made = shown(page)
        page.get_by_role("button", name="Save and turn on").click()
        expect(page).to_have_url(re.compile(f"/a-{kind.replace('_', '-')}-one/$"), timeout=SLOW)
        page.goto(f"{page.url}edit/")
        assert shown(page) == made, kind
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.locator(".toasts")).to_contain_text("Nothing was different.")
