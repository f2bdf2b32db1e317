"""A real Chromium for the tests marked `browser`."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

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
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert errors == []
