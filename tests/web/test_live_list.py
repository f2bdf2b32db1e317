"""The list in a real browser: the switch, its Undo, rows that keep themselves true, the bell."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import sign_up
from tests.running_app import RunningApp

pytestmark = pytest.mark.browser
SOON = 12_000  # milliseconds; two askings, five seconds apart


@pytest.fixture
def home(page: Page, new_app: Callable[..., RunningApp]) -> str:
    """The list of somebody with one routine, a script that is on (and finds no shell here)."""
    app = new_app()
    app.start()
    sign_up(page, app.url)
    home = f"{app.url}/w/ada/routines/"
    page.goto(f"{home}new/")
    page.get_by_label("Agent").select_option(label="Script")
    page.locator("#instructions").fill("echo 'report: all well'")
    page.get_by_label("Name").fill("Night watch")
    page.get_by_role("button", name="Save and turn on").click()
    expect(page.locator("h1")).to_have_text("Night watch")
    page.goto(home)
    return home


def test_the_switch_the_rows_and_the_bell(page: Page, home: str) -> None:
    row = page.locator("#routine-night-watch")
    switch = row.get_by_role("switch")
    toasts = page.locator("#toasts")

    # at once, told, and taken back; the focus stays where it was, in whichever group
    switch.click()
    expect(switch).to_have_attribute("aria-checked", "false")
    expect(toasts).to_contain_text("Night watch is off.")
    expect(page.locator("h1")).to_have_text("Everything is off.")
    expect(row).to_contain_text("Turned off by Ada Byron")
    expect(switch).to_be_focused()
    toasts.get_by_role("button", name="Undo").click()
    expect(page.locator("h1")).to_have_text("One is keeping time.")
    expect(toasts).to_contain_text("Night watch is on. Next run: ")
    expect(toasts).not_to_contain_text("is off.")

    # when it can't be reached it goes back, and says so beside itself
    page.context.set_offline(True)
    switch.click()
    expect(row.get_by_role("alert")).to_be_visible()
    expect(switch).to_have_attribute("aria-checked", "true")
    page.context.set_offline(False)

    # a row with the focus inside is left alone, and follows once the focus has gone
    link = row.get_by_role("link", name="Night watch", exact=True)
    link.focus()
    other = page.context.new_page()
    other.goto(f"{home}night-watch/")
    other.get_by_role("button", name="Run it now").click()
    expect(other.locator(".ending")).to_contain_text("Failed", timeout=30_000)
    other.close()
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # back in this tab
    expect(page.locator("#today [role=img]")).to_have_attribute(
        "aria-label", re.compile("1 failed"), timeout=SOON
    )
    expect(row).not_to_contain_text("Failed")
    expect(link).to_be_focused()
    link.blur()
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(row).to_contain_text("Failed — the script ended with exit 127", timeout=SOON)
    # whoever followed it to its end has read what rings
    expect(page.locator("#bell-line")).to_have_accessible_name("Notifications")

    # the bell opens over the page, which rests; Escape gives the focus back
    bell = page.locator("#bell-line")
    bell.click()
    panel = page.get_by_role("dialog")
    expect(panel).to_be_visible()
    expect(panel.locator("#bp")).to_be_focused()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(bell).to_be_focused()
