"""The form and the live page in a real browser: blanks that follow, times that settle, lines that
come by themselves, and keys."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import sign_up
from tests.running_app import RunningApp

pytestmark = [pytest.mark.browser, pytest.mark.sandbox]

SLOW = 30_000  # milliseconds
TALKS = """for i in 1 2 3 4; do echo "line $i"; sleep 0.7; done
echo "report: said four lines"
"""


@pytest.fixture
def home(page: Page, new_app: Callable[..., RunningApp]) -> str:
    """The routines' address of somebody who has just signed up."""
    app = new_app(MACHINE_PROVIDER="local")
    app.start()
    sign_up(page, app.url)
    return f"{app.url}/w/ada/routines/"


def test_the_sentence_follows_its_blanks(page: Page, home: str) -> None:
    page.goto(f"{home}new/")
    reads = page.locator("#readback")
    page.get_by_label("How often").select_option("month_weekday")
    page.get_by_label("Which").select_option("last")
    expect(reads).to_contain_text("on the last Monday of every month at eight in the morning")
    time = page.locator("#times")
    time.fill("half past 8")
    time.press("Tab")
    expect(time).to_have_value("8:30")
    expect(page.get_by_label("Time zone")).to_be_focused()
    page.get_by_role("button", name="Add a time").click()
    page.get_by_label("Time of day, number 2").fill("17.15")
    page.get_by_label("Name").click()
    expect(reads).to_contain_text("and quarter past five in the afternoon")
    expect(page.locator("#next li")).to_have_count(5)
    page.get_by_label("How often").select_option("cron")
    expect(page.get_by_label("Cron expression")).to_have_value("30 8 * * 1L; 15 17 * * 1L")
    page.get_by_label("Agent").select_option(label="Script")
    expect(page.locator("#estimate")).to_contain_text("$0.00 a month")
    page.get_by_role("button", name="Save and turn on").click()
    expect(page.locator(".errsum")).to_be_focused()
    expect(page.locator(".errsum")).to_contain_text("Two things to fix")
    expect(page).to_have_title(re.compile("^Error: New routine"))
    # the check, tried where it stands; and cron, turned back into a sentence
    page.get_by_label("Agent").select_option(label="Script")
    page.get_by_label("Name").fill("Kept")
    page.get_by_label("Only run if").fill("echo none; exit 1")
    page.get_by_role("button", name=re.compile("^Try it on ")).click()
    said = page.locator("#tried-said")
    expect(said).to_contain_text("nothing to do, so no model would be called", timeout=SLOW)
    expect(page.locator("#tried pre")).to_contain_text("none")
    expect(page.get_by_label("Name")).to_have_value("Kept")
    page.get_by_label("How often").select_option("weekdays")
    page.get_by_role("button", name="Write it as cron").click()
    cron = page.get_by_label("Cron expression")
    expect(cron).to_be_focused()
    cron.fill("15 30 9 * * MON-FRI")
    cron.press("Tab")
    expect(page.locator("#boxes .six div")).to_have_count(6)
    page.get_by_role("button", name="Use “every weekday at 9:30”").click()
    expect(page.locator("#times")).to_have_value("9:30")
    expect(page.locator("#readback")).to_contain_text("every weekday at half past nine")
    page.locator("#times").fill("1")
    page.locator("#times").press("Tab")
    page.get_by_role("button", name="13:00").click()
    expect(page.locator("#times")).to_have_value("13:00")
    expect(page.locator("#wrong-sentence .err")).to_have_count(0)


def test_a_live_run_is_followed_without_a_reload(page: Page, home: str) -> None:
    page.goto(f"{home}new/")
    page.get_by_label("How often").select_option("when_asked")
    expect(page.locator("#readback")).to_contain_text("whenever someone asks for it")
    page.get_by_label("Agent").select_option(label="Script")
    page.locator("#instructions").fill(TALKS)
    page.get_by_label("Name").fill("Talks")
    page.get_by_role("button", name="Run it now").click()
    expect(page).to_have_url(re.compile(r"/talks/runs/1/$"))
    page.wait_for_load_state("load")  # its own load; whatever comes after it is a reload
    loads: list[str] = []
    page.on("load", lambda loaded: loads.append(loaded.url))
    expect(page.locator("#track li[data-s=now]")).to_contain_text("Working", timeout=SLOW)
    expect(page.locator(".ending")).to_contain_text("Done. Said four lines.", timeout=SLOW)
    expect(page.locator("#steps")).to_contain_text("line 4")
    expect(page.locator("#poll")).to_have_count(0)
    assert loads == []
    page.keyboard.press("r")
    expect(page).to_have_url(re.compile(r"/talks/runs/2/$"))
    page.get_by_role("link", name="Stop this run").click()
    page.get_by_role("button", name="Stop it").click()
    expect(page.locator(".ending")).to_contain_text("Stopped by Ada Byron", timeout=SLOW)


def test_keys_lead_along_the_pages(page: Page, home: str) -> None:
    page.locator(".starter").first.get_by_role("button", name="Run it now").click()
    expect(page.locator(".ending")).to_contain_text("Done.", timeout=SLOW)
    page.goto(home)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("What changed in a folder")
    expect(page.locator(".bigbeat a[tabindex='0']")).to_have_count(1)
    page.keyboard.press("g")
    page.keyboard.press("m")
    expect(page).to_have_url(re.compile(r"/machines/$"))
    page.goto(home)
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile(r"/routines/new/$"))
    page.get_by_label("Name").press("n")
    expect(page).to_have_url(re.compile(r"/routines/new/$"))
