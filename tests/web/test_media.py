"""Pages for people who see, print or bear motion differently; and how heavy the files are."""

from pathlib import Path

import pytest
from django.test import Client
from django.test.utils import override_settings
from playwright.sync_api import Page

from tests.web.every_page import HARBOUR, PAGES, Rendered, Shown, rendered
from tests.web.scene import harbour_with_everything
from tests.web.seen import in_browser

BACKGROUND = """([where, part]) =>
  getComputedStyle(document.querySelector(where), part).backgroundColor"""
MOVING = """() => [...document.querySelectorAll('*')].flatMap((e) => ['', '::before', '::after']
  .map((part) => getComputedStyle(e, part))
  .filter((style) => style.animationName !== 'none')
  .map((style) => style.animationName))"""
SHOWN = "(where) => [...document.querySelectorAll(where)].some((e) => e.checkVisibility())"


def test_sheets_and_scripts_stay_light() -> None:
    sheets = {sheet.name: sheet.stat().st_size for sheet in Path("static/css").glob("*.css")}
    assert sum(sheets.values()) - sheets["kit.css"] < 80_000, "the kit is for development only"
    assert sum(script.stat().st_size for script in Path("static/js").glob("*.js")) < 40_000


@pytest.fixture
def pages(db: None) -> list[Rendered]:
    """The list, the form, the plan and the kit."""
    browser = Client()
    browser.force_login(harbour_with_everything())
    paths = ("routines/", "routines/new/", "plan/")
    with override_settings(DEBUG=True):
        kit = rendered(browser, PAGES["kit"][0])
    return [*(rendered(browser, Shown(HARBOUR + path)) for path in paths), kit]


@pytest.mark.browser
def test_forced_colours_still_motion_and_paper_keep_what_matters(pages: list[Rendered]) -> None:
    routines, form, plan, kit = pages

    def look(page: Page, site: str) -> None:
        def colour(where: str, part: str = "") -> str:
            return str(page.evaluate(BACKGROUND, [where, part]))

        page.emulate_media(forced_colors="active", reduced_motion="reduce")
        page.goto(site + routines.path)
        on, off = "[aria-checked=true].switch", "[aria-checked=false].switch"
        assert colour(on) != colour(off)
        for each in (on, off):
            assert colour(each) != colour(each, "::after"), "the knob is seen"
        here = "getComputedStyle(document.querySelector('.nav [aria-current]')).outlineStyle"
        assert page.evaluate(here) == "solid"
        page.goto(site + form.path)
        assert colour("[name=notify]:checked") != colour("[name=notify]:not(:checked)")

        page.emulate_media(forced_colors="none", reduced_motion="reduce")
        page.goto(site + kit.path)
        assert page.evaluate(MOVING) == []
        page.emulate_media(reduced_motion="no-preference")
        assert set(page.evaluate(MOVING)) == {"breathe", "halo"}

        page.set_viewport_size({"width": 680, "height": 960})  # A4 between its margins
        page.emulate_media(media="print", color_scheme="dark")
        page.goto(site + plan.path)
        for frame in (".rail", ".topbar", ".tabbar", ".bell", ".btn", ".toasts"):
            assert not page.evaluate(SHOWN, frame), frame
        assert page.evaluate(SHOWN, ".ledger thead th"), "figures stay in columns"
        ink = page.evaluate("getComputedStyle(document.querySelector('.ledger')).color")
        assert ink == "rgb(21, 32, 26)", "dark on white, whatever the screen's scheme"

    in_browser(pages, look)
