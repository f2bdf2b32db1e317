"""Whoever types while the form's sentence is being swapped keeps each letter, in its place."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser import sign_up
from tests.running_app import RunningApp

pytestmark = pytest.mark.browser

SELECTED = "(field) => field.value.slice(field.selectionStart, field.selectionEnd)"


class HeldAnswers:
    """Keeps the browser's questions about the sentence until `let_go`."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._held: list[Route] = []
        page.route("**/schedule/preview", lambda route: self._held.append(route))

    def let_go(self) -> None:
        """Let what is asked through, and wait until its answer is shown."""
        while not self._held:
            self._page.wait_for_timeout(20)
        with self._page.expect_response("**/schedule/preview"):
            while self._held:
                self._held.pop(0).continue_()
        self._page.wait_for_timeout(150)  # htmx settles 20 ms after it has swapped


@pytest.fixture
def form(page: Page, new_app: Callable[..., RunningApp]) -> Page:
    """The form of a new routine, open for somebody who has just signed up."""
    app = new_app()
    app.start()
    sign_up(page, app.url)
    page.goto(f"{app.url}/w/ada/routines/new/")
    return page


def test_what_is_typed_meanwhile_stays_in_its_place(form: Page) -> None:
    answers = HeldAnswers(form)
    time = form.locator("#times")
    reads = form.locator("#readback")
    before = time.input_value()

    # all of it is selected when the answer comes, so the first letter takes its place
    form.get_by_label("How often").select_option("daily")
    time.select_text()
    answers.let_go()
    expect(form.get_by_label("How often")).to_have_value("daily")
    expect(reads).to_contain_text("every day")
    expect(time).to_be_focused()
    assert time.evaluate(SELECTED) == before
    form.keyboard.type("12:00")
    expect(time).to_have_value("12:00")

    # half of it is typed when the answer comes
    form.get_by_label("How often").select_option("weekends")
    time.select_text()
    form.keyboard.type("9:")
    answers.let_go()
    expect(reads).to_contain_text("every Saturday and Sunday")
    form.keyboard.type("15")
    expect(time).to_have_value("9:15")

    # all of it is; leaving the blank says so, as ever
    form.get_by_label("How often").select_option("weekdays")
    time.select_text()
    form.keyboard.type("half past 8")
    answers.let_go()
    expect(time).to_have_value("half past 8")
    form.keyboard.press("Tab")
    answers.let_go()
    expect(time).to_have_value("8:30")
    expect(reads).to_contain_text("every weekday at half past eight")
    expect(form.get_by_label("Time zone")).to_be_focused()

    # a button that leads to a new blank leads nobody away who has begun to write elsewhere
    form.get_by_role("button", name="Add a time").click()
    form.locator("#instructions").press_sequentially("Read ")
    answers.let_go()
    expect(form.get_by_label("Time of day, number 2")).to_be_visible()
    form.keyboard.type("the news")
    expect(form.locator("#instructions")).to_have_value("Read the news")


def test_days_and_dates_keep_the_focus(form: Page) -> None:
    answers = HeldAnswers(form)
    form.get_by_label("How often").select_option("chosen_days")
    answers.let_go()
    form.get_by_label("Tuesday").focus()
    form.keyboard.press("Space")
    answers.let_go()
    expect(form.get_by_label("Tuesday")).to_be_focused()
    form.keyboard.press("Tab")
    form.keyboard.press("Space")
    answers.let_go()
    expect(form.get_by_label("Wednesday")).to_be_focused()

    form.get_by_label("How often").select_option("once")
    answers.let_go()
    date = form.get_by_label("Date")
    date.focus()
    form.keyboard.type("04")
    form.keyboard.type("17")
    answers.let_go()
    form.keyboard.type("2095")
    answers.let_go()
    expect(date).to_have_value("2095-04-17")
    expect(form.locator("#readback")).to_contain_text("17 April 2095")
