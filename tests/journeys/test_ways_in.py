"""A person's way in, in a real browser: sign-up, a passkey, sign-in with it, and their files."""

import pytest
from playwright.sync_api import Page, expect

from tests.running_app import RunningApp

PASSWORD = "a long pass phrase 9"


def with_authenticator(page: Page) -> None:
    """Give the browser a device that holds passkeys and says yes to each request."""
    device = page.context.new_cdp_session(page)
    device.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    device.send("WebAuthn.addVirtualAuthenticator", {"options": options})


def sign_up(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_label("Your name").fill("Ada Byron")
    page.get_by_label("Email").fill("ada@example.org")
    page.get_by_label("A password").fill(PASSWORD)
    page.get_by_role("button", name="Make an account").click()
    page.wait_for_url("**/w/ada/routines/")


@pytest.mark.browser
def test_a_person_signs_up_adds_a_passkey_and_signs_in_with_it(
    live_app: RunningApp, page: Page
) -> None:
    refused: list[str] = []
    page.on(
        "console",
        lambda said: refused.append(said.text) if "Content Security Policy" in said.text else None,
    )
    with_authenticator(page)
    sign_up(page, live_app.url)
    page.goto(f"{live_app.url}/accounts/2fa/webauthn/add/")
    if "reauthenticate" in page.url:
        page.get_by_label("Your password").fill(PASSWORD)
        page.get_by_role("button", name="Go on").click()
    page.get_by_label("Its name").fill("Laptop")
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Recovery codes")
    page.goto(f"{live_app.url}/me/")
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.goto(f"{live_app.url}/w/ada/people/")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("You, and nobody else yet.")
    assert refused == []


@pytest.mark.browser
def test_single_keys_go_places_and_rest_while_one_writes(live_app: RunningApp, page: Page) -> None:
    sign_up(page, live_app.url)
    page.keyboard.press("g")
    page.keyboard.press("m")
    page.wait_for_url("**/w/ada/machines/")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.textContent") == "quay-1"
    name = page.get_by_label("Its name")
    name.press_sequentially("gmn?")
    expect(name).to_have_value("gmn?")
    page.keyboard.press("Escape")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("n")
    page.wait_for_url("**/w/ada/routines/new/")


@pytest.mark.browser
def test_the_bell_opens_over_the_page_and_everything_can_be_paused(
    live_app: RunningApp, page: Page
) -> None:
    sign_up(page, live_app.url)
    page.goto(f"{live_app.url}/w/ada/machines/")
    page.get_by_role("link", name="Notifications").last.click()
    panel = page.get_by_role("dialog", name="Quiet. Failures always ring here.")
    expect(panel).to_be_visible()
    page.keyboard.press("g")  # keys rest while it is open
    page.keyboard.press("f")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(page.get_by_role("heading", level=1)).to_have_text("quay-1 is awake.")
    page.keyboard.press("g")
    page.keyboard.press("b")
    page.wait_for_url("**/w/ada/bell/")
    page.goto(f"{live_app.url}/w/ada/settings/")
    page.get_by_role("button", name="Pause everything").click()
    banner = page.locator(".banner")
    expect(banner).to_contain_text("Everything is paused, by Ada Byron since ")
    page.goto(f"{live_app.url}/w/ada/machines/")
    banner.get_by_role("button", name="Turn it back on").click()
    expect(page).to_have_url(f"{live_app.url}/w/ada/machines/")
    expect(banner).to_have_count(0)


@pytest.mark.browser
def test_two_people_at_one_file_lose_nothing(live_app: RunningApp, page: Page) -> None:
    sign_up(page, live_app.url)
    page.goto(f"{live_app.url}/w/ada/files/")
    page.get_by_text("Upload, or make something here").click()
    page.get_by_label("A new file or folder").fill("notes.md")
    page.get_by_role("button", name="Make the file").click()
    text = page.get_by_label("Contents of notes.md")
    text.fill("\nfirst line is empty\n")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("notes.md is saved.")).to_be_visible()
    expect(text).to_have_value("\nfirst line is empty\n")
    other = page.context.new_page()
    other.goto(page.url)
    other.get_by_label("Contents of notes.md").fill("theirs")
    other.get_by_role("button", name="Save").click()
    expect(other.get_by_text("notes.md is saved.")).to_be_visible()
    text.fill("mine")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "notes.md changed since you opened it."
    )
    expect(page.get_by_label("Your text")).to_have_value("mine")
    expect(page.get_by_label("Its text now")).to_have_value("theirs")
    page.get_by_role("button", name="Save yours").click()
    expect(text).to_have_value("mine")
