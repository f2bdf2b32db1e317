"""A real Chromium for the tests marked `browser`."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest
from playwright.sync_api import Browser, Error, Page, Playwright, expect, sync_playwright

from tests.tools import browser_program

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


T = TypeVar("T")


def sign_up(page: Page, address: str) -> None:
    """Make Ada Byron's account in a place that has none, and come to her first page."""
    page.goto(address)
    page.get_by_label("Your name").fill("Ada Byron")
    page.get_by_label("Email").fill("ada@example.org")
    page.get_by_label("A password").fill("correct horse battery")
    page.get_by_role("button", name="Make an account").click()
    expect(page.locator("h1")).to_contain_text("What should already be")


def script_errors(page: Page) -> list[str]:
    """What the page's scripts fail with from now on, as it comes.

    A browser that is slow gives up the fading from one page to the next, and says so here too.
    """
    errors: list[str] = []

    def note(error: Error) -> None:
        if not str(error).startswith("Transition was "):
            errors.append(str(error))

    page.on("pageerror", note)
    return errors


class SharedChromium:
    """One browser for all of a process's tests, started when first asked for, in its own thread.

    Playwright keeps a loop running in its thread, beside which Django refuses to query; so a test
    that looks through this one may use Django's database before and after.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None

    def look(self, work: Callable[[Page], T]) -> T:
        """What `work` finds with a page of somebody who has never been here. Errors fail."""
        return self._thread.submit(self._look, work).result()

    def close(self) -> None:
        """End the browser, if there is one."""
        self._thread.submit(self._close).result()

    def _look(self, work: Callable[[Page], T]) -> T:
        if self._browser is None or not self._browser.is_connected():
            self._close()
            self._playwright = sync_playwright().start()
            self._browser = self._playwright.chromium.launch(
                executable_path=browser_program(), args=FLAGS
            )
        context = self._browser.new_context()
        try:
            page = context.new_page()
            errors = script_errors(page)
            found = work(page)
        finally:
            context.close()
        assert errors == []
        return found

    def _close(self) -> None:
        if self._browser is not None:
            self._browser.close()
        if self._playwright is not None:
            self._playwright.stop()
        self._browser = self._playwright = None


shared = SharedChromium()


def pytest_unconfigure() -> None:
    shared.close()


@pytest.fixture
def chromium(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """A browser for one test; ask for `page` to get a fresh session in it.

    Not shared, and not together with Django's database: Playwright keeps a loop running in this
    thread, beside which Django's connections are others than without it. Such a test works on
    `live_app`, a process with a database of its own.
    """
    assert request.node.get_closest_marker("django_db") is None, "use live_app's database"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_program(), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """An empty page of a person who has never been here; scripts' errors fail the test."""
    context = chromium.new_context()
    page = context.new_page()
    errors = script_errors(page)
    yield page
    context.close()
    assert errors == []
