"""The keyboard alone: where Tab goes, what has the focus, and the single keys."""

from collections.abc import Callable

import pytest
from django.test import Client
from playwright.sync_api import Page

from accounts.models import User
from tests.web.every_page import HARBOUR, WRONG, Rendered, Shown, rendered
from tests.web.scene import harbour_with_everything
from tests.web.seen import in_browser

pytestmark = [pytest.mark.browser, pytest.mark.django_db]

# What has the focus, in a word: its id or name, else its words; what hides it, if anything does.
FOCUSED = """() => {
  const it = document.activeElement;
  const box = it.getBoundingClientRect();
  const x = box.left + box.width / 2, y = box.top + Math.min(box.height / 2, 12);
  const top = document.elementFromPoint(x, y);
  const label = it.closest('label') ?? document.querySelector(`label[for="${it.id}"]`);
  const seen = top && (it.contains(top) || top.contains(it) || label?.contains(top));
  const style = getComputedStyle(it);
  return {
    name: it.getAttribute('name') || it.getAttribute('aria-label') || it.textContent.trim(),
    place: it.closest('main') ? 'main' : it.closest('.rail') ? 'rail' : '',
    tag: it.tagName,
    beat: it.closest('.bigbeat') ? 'yes' : '',
    hidden: seen ? "" : `${top?.outerHTML.slice(0, 60) ?? "outside"} at ${x}, ${y}`,
    outline: it.classList.contains('sr') ? 'none needed' : style.outlineStyle,
  };
}"""


@pytest.fixture
def owner(db: None) -> User:
    return harbour_with_everything()


@pytest.fixture
def pages(owner: User) -> Callable[..., list[Rendered]]:
    """Renders these paths of the workspace for its owner."""

    def render(*paths: str | Shown) -> list[Rendered]:
        browser = Client()
        browser.force_login(User.objects.get(pk=owner.pk))
        looks = [each if isinstance(each, Shown) else Shown(HARBOUR + each) for each in paths]
        return [rendered(browser, each) for each in looks]

    return render


def stops(page: Page, most: int = 80) -> list[dict[str, str]]:
    """Every stop of the Tab key until it leaves the page."""
    found = []
    for _ in range(most):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUSED)
        if stop["tag"] == "BODY":
            break
        found.append(stop)
    return found


def in_main(found: list[dict[str, str]]) -> list[str]:
    """The names of the stops in the page's own part, without those that are the same in a row."""
    names = [stop["name"] for stop in found if stop["place"] == "main"]
    return [name for place, name in enumerate(names) if place == 0 or names[place - 1] != name]


def test_tab_goes_through_list_form_and_run_in_the_order_in_which_they_read(
    pages: Callable[..., list[Rendered]],
) -> None:
    shown = pages("routines/", "routines/new/", "routines/brief/runs/1/", "routines/brief/")

    def look(page: Page, site: str) -> dict[str, list[dict[str, str]]]:
        found = {}
        for each in shown:
            page.goto(site + each.path)
            found[each.path.removeprefix(HARBOUR)] = stops(page)
        page.set_viewport_size({"width": 390, "height": 740})
        page.goto(site + shown[1].path)
        return found | {"form on a phone": stops(page)}

    found = in_browser(shown, look)
    for where, each in found.items():
        assert each[0]["name"] == "Skip to content", where
        assert [stop for stop in each if stop["hidden"]] == [], where
        assert [stop for stop in each if stop["outline"] == "none"] == [], where

    rows = in_main(found["routines/"])
    at = [rows.index(name) for name in ("New routine", "Brief", "Brief is on", "Cron")]
    assert at == sorted(at) and at[2] == at[1] + 1

    form = in_main(found["routines/new/"])
    order = ["every", "times", "zone", "agent", "machine", "instructions", "name", "check_command",
             "folder", "cap", "time_limit", "step_limit", "conversation", "notify"]  # fmt: skip
    places = [form.index(name) for name in order]
    assert places == sorted(places), form
    assert form.index("then", places[-1]), "and then the buttons that save"

    run = in_main(found["routines/brief/runs/1/"])
    assert run.index("Brief") < run.index("Run it now")

    in_beat = [stop for stop in found["routines/brief/"] if stop["beat"]]
    assert len(in_beat) == 1, "one stop, not one a run"


def test_what_is_wrong_takes_the_focus_and_leads_to_its_field(
    pages: Callable[..., list[Rendered]],
) -> None:
    shown = pages(Shown(HARBOUR + "routines/new/", posted=WRONG))

    def look(page: Page, site: str) -> tuple[str, str, str]:
        page.goto(site + shown[0].path)
        at_first = page.evaluate("document.activeElement.className")
        link = page.locator(".errsum a").first
        link.press("Enter")
        field = page.evaluate("document.activeElement.id")
        return at_first, link.get_attribute("href") or "", field

    at_first, href, field = in_browser(shown, look)
    assert at_first == "errsum"
    assert href == f"#{field}"
    assert "<title>Error: " in shown[0].html


def test_single_keys_go_move_and_run(pages: Callable[..., list[Rendered]]) -> None:
    shown = pages("routines/", "routines/new/", "routines/brief/", "machines/", "bell/")
    shown += pages(Shown("/help/"))
    there = {each.path for each in shown}

    def look(page: Page, site: str) -> None:
        def goes(keys: str, start: str, to: str, method: str = "GET") -> None:
            page.goto(site + start)
            with page.expect_request(
                lambda asked: asked.url == site + to and asked.method == method, timeout=5000
            ):
                for key in keys:
                    page.keyboard.press(key)
            if to in there:
                page.wait_for_url(lambda url: url.partition("#")[0] == site + to)

        home = f"{HARBOUR}routines/"
        goes("n", home, f"{HARBOUR}routines/new/")
        goes("gm", home, f"{HARBOUR}machines/")
        goes("gf", home, f"{HARBOUR}files/")
        goes("gb", home, f"{HARBOUR}bell/")
        goes("gr", f"{HARBOUR}machines/", home)
        goes("?", home, "/help/")
        goes("r", f"{HARBOUR}routines/brief/", f"{HARBOUR}routines/brief/run/", "POST")

        page.goto(site + home)
        focused = "document.activeElement.textContent.trim()"
        at = []
        for key in "jjk":
            page.keyboard.press(key)
            at.append(page.evaluate(focused))
        assert at[0] == at[2] != at[1], at

        page.goto(site + f"{HARBOUR}routines/brief/")
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.closest('.filter') !== null")

    in_browser(shown, look)


def test_single_keys_rest_in_fields_and_can_be_turned_off(
    pages: Callable[..., list[Rendered]], owner: User
) -> None:
    form = pages("routines/new/")
    User.objects.filter(pk=owner.pk).update(single_keys=False)
    off = pages("routines/")

    def look(page: Page, site: str) -> list[str]:
        asked: list[str] = []
        page.goto(site + form[0].path)
        page.locator("#name").focus()
        page.on("request", lambda request: asked.append(request.url))
        page.keyboard.type("njr?/")
        assert page.locator("#name").input_value() == "njr?/"
        page.goto(site + off[0].path)
        for key in ("n", "j", "g", "m", "?"):
            page.keyboard.press(key)
        page.wait_for_timeout(200)
        assert page.evaluate("document.activeElement.tagName") == "BODY"
        return [url.removeprefix(site) for url in asked if "/static/" not in url]

    navigated = [path for path in in_browser(form + off, look) if "preview" not in path]
    assert navigated == [f"{HARBOUR}routines/"]
