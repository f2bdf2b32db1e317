"""Signing in to an app in a real browser, which holds each step of the way against our policy."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser import sign_up
from tests.fakes.mcp_app import McpApp
from tests.fakes.sign_in_server import SignInServer
from tests.running_app import RunningApp

pytestmark = pytest.mark.browser

SLOW = 30_000  # milliseconds


def test_a_form_leads_to_the_app_s_sign_in_and_back(page: Page, live_app: RunningApp) -> None:
    sign_up(page, live_app.url)
    with SignInServer() as server, McpApp(sign_in=server) as helpdesk:
        page.goto(f"{live_app.url}/w/ada/agents/apps/")
        page.get_by_label("Name").fill("Helpdesk")
        page.get_by_label("Address").fill(helpdesk.address)
        page.get_by_role("button", name="Connect it").click()
        main = page.locator("main")
        expect(main).to_contain_text("Helpdesk asks to be signed in to.", timeout=SLOW)
        page.get_by_role("link", name="Sign in to Helpdesk").click()
        expect(main).to_contain_text(f"You are sent to {server.host}")
        page.get_by_role("button", name=f"Go to {server.host}").click()
        expect(main).to_contain_text("Signed in by Ada Byron, until it is taken back", timeout=SLOW)
        expect(main).to_contain_text("3 tools: 2 read, 1 changes things", timeout=SLOW)
        expect(page).to_have_url(f"{live_app.url}/w/ada/agents/apps/?asked={key_in(page)}")
    assert "canary" not in live_app.output


def key_in(page: Page) -> str:
    """The key of the app that the page shows."""
    return str(page.locator(".items > li").first.get_attribute("id")).removeprefix("app-")
