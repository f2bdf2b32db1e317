"""A live run and what can go wrong under a page, in a real browser."""

import re
from collections.abc import Callable

import psycopg
import pytest
from playwright.sync_api import Page, expect

from foundation import postgres
from foundation.embedded import DATABASE
from tests.running_app import RunningApp

pytestmark = pytest.mark.browser

SLOW = 20_000  # milliseconds

GO_ON = """
UPDATE routines_app_fire SET closed_at = NULL, claim_token = gen_random_uuid(),
    lease_until = now() + interval '1 hour';
UPDATE routines_app_run SET status = 'running', finished_at = NULL, turn_at = now(),
    waking_at = now(), headline = '';
DELETE FROM routines_app_step;
"""
SAY = """
INSERT INTO routines_app_step (run_id, number, kind, title, content, cost, seconds, facts, at)
SELECT r.id, n, 'said', 'Thought', 'Thought number ' || n, 0, 0, '{}', now()
FROM routines_app_run r, generate_series(%s::int, %s::int) n
"""
PRINT = """
UPDATE routines_app_run SET doing = jsonb_build_object(
    'kind', 'ran', 'title', 'make', 'before', 4711, 'text', %s::text)
"""
END = """
UPDATE routines_app_run SET status = 'done_changed', headline = 'All is counted',
    finished_at = now();
UPDATE routines_app_fire SET closed_at = now(), claim_token = NULL, lease_until = NULL
"""


@pytest.fixture
def sql(live_app: RunningApp) -> Callable[..., None]:
    def run(statement: str, *values: object) -> None:
        server = postgres.running_server(live_app.var / "postgres")
        assert server is not None
        with psycopg.connect(server.url(DATABASE)) as session:
            session.execute(statement, values or None)

    return run


def first_run(page: Page, app: RunningApp) -> str:
    """The address of a new person's first run, which has ended."""
    page.goto(app.url)
    page.get_by_label("Your name").fill("Ada Byron")
    page.get_by_label("Email").fill("ada@example.org")
    page.get_by_label("A password").fill("correct horse battery")
    page.get_by_role("button", name="Make an account").click()
    blank = page.locator(".starter", has=page.get_by_label("Folder", exact=True))
    blank.get_by_label("Folder", exact=True).fill("~/inbox")
    blank.get_by_role("button", name="Run it now").click()
    expect(page).to_have_url(re.compile(r"/runs/1/$"))
    expect(page.locator(".ending")).to_be_visible(timeout=SLOW)
    return page.url


def test_a_run_is_followed_to_its_end_through_what_goes_wrong(
    page: Page, live_app: RunningApp, sql: Callable[..., None]
) -> None:
    address = first_run(page, live_app)
    sql(GO_ON)
    sql(SAY, 1, 12)
    page.set_viewport_size({"width": 900, "height": 500})
    page.goto(address)
    follow = page.locator("[data-follow]")
    expect(follow).to_have_text(re.compile("ollowing"))

    # scrolled up, what is new is counted and one click away
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    expect(page.locator("#step-12")).to_be_in_viewport()
    page.evaluate("window.scrollTo(0, 0)")
    expect(follow).to_have_text("Not following")
    sql(SAY, 13, 15)
    expect(page.get_by_role("button", name="3 new lines")).to_be_visible()
    expect(page.locator("#step-15")).not_to_be_in_viewport()
    page.get_by_role("button", name="3 new lines").click()
    expect(page.locator("#step-15")).to_be_in_viewport()
    expect(page.locator(".newlines")).to_have_count(0)

    # what a command prints is followed as it grows
    sql(PRINT, "line 1\nline 2")
    tail = page.locator("#at-now .tail")
    expect(tail).to_have_text("line 1\nline 2")
    expect(page.locator("#at-now")).to_contain_text("4,711 characters came before")
    sql(PRINT, "\n".join(f"line {number}" for number in range(3, 21)))
    expect(tail).to_contain_text("line 20")
    page.wait_for_function("document.querySelector('.tail').getBoundingClientRect().bottom < 500")
    expect(follow).to_have_text("Following live")

    # aloud only by choice, and the choice is kept
    steps = page.locator("#steps")
    expect(steps).to_have_attribute("aria-live", "off")
    page.get_by_label("Read new lines aloud").check()
    expect(steps).to_have_attribute("aria-live", "polite")

    # Stop asks again, with the focus on what changes nothing
    page.get_by_role("link", name="Stop this run").click()
    expect(page.get_by_role("dialog", name="Stop this run?")).to_be_visible()
    expect(page.get_by_role("button", name="Keep running")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

    offline(page)
    broken(page, address, sql)

    # the end replaces the page, is said, and nothing is asked any more
    sql(END)
    expect(page.locator(".ending")).to_contain_text("All is counted.")
    expect(page.locator("#poll")).to_have_count(0)
    expect(page.locator("#announce")).to_have_text("Done. All is counted.", timeout=SLOW)

    # without a session a click leads to the sign-in, and back
    sql("DELETE FROM django_session")
    page.get_by_role("link", name=re.compile("Notifications")).first.click()
    expect(page).to_have_url(re.compile(r"/accounts/login/\?next=.*runs%2F1%2F"))


def offline(page: Page) -> None:
    """Without a connection the page says how old it is."""
    bar = page.locator(".offline")
    expect(bar).to_be_hidden()
    page.context.set_offline(True)
    expect(bar).to_have_text(re.compile(r"^Not connected\. Showing \d+:\d\d.*\.$"))
    page.context.set_offline(False)
    expect(bar).to_be_hidden()


def broken(page: Page, address: str, sql: Callable[..., None]) -> None:
    """A fault of ours is a sentence beside what was pressed, or a page without a trace."""
    sql("ALTER TABLE routines_app_notice RENAME TO away")
    page.get_by_role("link", name=re.compile("Notifications")).first.click()
    said = page.locator(".asked-in-vain").first
    expect(said).to_contain_text("Something broke on our side. Try again")
    expect(page.locator("#bell-panel")).to_be_hidden()
    page.goto(address)
    expect(page.locator("h1")).to_have_text("Something broke on our side.")
    expect(page.locator("code")).to_have_text(re.compile("^[0-9a-f]{4}-[0-9a-f]{4}$"))
    sql("ALTER TABLE away RENAME TO routines_app_notice")
    page.get_by_role("link", name="Try again").click()
    expect(page.locator("[data-follow]")).to_be_visible()
