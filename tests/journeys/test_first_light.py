"""A new person's first hour in a real browser, with a real sandbox and a model over real HTTP."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from foundation.clock import monotonic
from tests.browser import sign_up
from tests.fakes.model_provider import FakeProvider, Meter, clever
from tests.running_app import RunningApp

pytestmark = [pytest.mark.browser, pytest.mark.sandbox]

SLOW = 30_000  # milliseconds


@pytest.fixture
def app(new_app: Callable[..., RunningApp]) -> RunningApp:
    running = new_app(MACHINE_PROVIDER="local")
    running.start()
    return running


def fill_starter(page: Page, label: str, value: str) -> None:
    blank = page.get_by_label(label, exact=True)
    starter = page.locator(".starter", has=blank)
    starter.get_by_label(label, exact=True).fill(value)
    starter.get_by_role("button", name="Run it now").click()


def test_sign_up_to_a_watched_run_without_a_model(page: Page, app: RunningApp) -> None:
    began = monotonic()
    sign_up(page, app.url)
    fill_starter(page, "Folder", "~/inbox")
    expect(page).to_have_url(re.compile(r"/runs/1/$"))
    expect(page.locator("main")).to_contain_text("Done.", timeout=SLOW)
    assert monotonic() - began < 120
    expect(page.locator("main")).to_contain_text("$0.00")
    page.get_by_role("button", name="Turn it on").click()
    page.goto(f"{app.url}/w/ada/routines/")
    expect(page.locator("h1")).to_contain_text("keeping time")


def test_a_model_run_reads_what_was_edited_in_the_page(page: Page, app: RunningApp) -> None:
    with FakeProvider(clever, Meter()) as fake:
        sign_up(page, app.url)
        page.goto(f"{app.url}/w/ada/agents/models/")
        page.get_by_label("Provider").select_option("openai-compatible")
        page.get_by_label("Address, for OpenAI-compatible only").fill(
            fake.base_url("openai-compatible")
        )
        page.get_by_label("Model", exact=True).fill("small")
        page.get_by_label("Price read").fill("3")
        page.get_by_label("Price written").fill("15")
        page.get_by_role("button", name="Connect it").click()
        page.get_by_role("button", name="Test").first.click()
        expect(page.locator("main")).to_contain_text("answered in", timeout=SLOW)

        page.goto(f"{app.url}/w/ada/files/quay-1/")
        notes = {"name": "notes.md", "mimeType": "text/markdown", "buffer": b"# Tide tables\n"}
        page.get_by_text("Upload, or make something here").click()
        page.locator("input[type=file]").set_input_files([notes])  # type: ignore[list-item]
        page.get_by_role("button", name="Upload", exact=True).click()
        expect(page.locator("main")).to_contain_text("notes.md")

        page.goto(f"{app.url}/w/ada/routines/")
        fill_starter(page, "File", "~/notes.md")
        expect(page.locator("main")).to_contain_text("Done.", timeout=SLOW)
        expect(page.locator("main")).to_contain_text("Tide tables")
        runs = page.url
        assert fake.meter.billed > 0

        page.get_by_role("link", name="Open file").click()
        memory = page.locator("textarea")
        expect(memory).to_have_value(re.compile("State"))
        memory.fill("the heron left on Tuesday\n")
        page.get_by_role("button", name="Save").click()
        expect(page.locator("textarea")).to_have_value(re.compile("the heron"))

        page.goto(runs)
        page.get_by_role("button", name="Run it now").click()
        expect(page).to_have_url(re.compile(r"/runs/2/$"))
        expect(page.locator("main")).to_contain_text("Done.", timeout=SLOW)
        assert "the heron left on Tuesday" in fake.seen[-1].text


def test_the_schedule_does_the_same_without_anybody(page: Page, app: RunningApp) -> None:
    sign_up(page, app.url)
    page.goto(f"{app.url}/w/ada/routines/new/?from=folder")
    page.get_by_label("In your own words").fill("every 5 minutes")
    page.get_by_role("button", name="Fill the blanks").click()
    page.get_by_label("How often").select_option("cron")
    expect(page.get_by_label("Cron expression", exact=False).first).to_be_visible()
    page.get_by_label("Cron expression", exact=False).first.fill("*/4 * * * * *")
    page.get_by_role("button", name="Save and turn on").click()
    page.wait_for_url(re.compile(r"/routines/[a-z-]+/$"))
    routine = page.url
    for _ in range(30):
        page.goto(routine)
        if page.locator("main", has_text="Nothing to report. It looked").count():
            break
        page.wait_for_timeout(1_000)
    expect(page.locator("main")).to_contain_text("Done.")
    expect(page.locator("main")).to_contain_text("Nothing to report.")
