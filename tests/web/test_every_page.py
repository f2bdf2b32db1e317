"""Every page, looked at in a real browser: accessible, fit for a phone, dressed as it needs."""

import re

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from tests.web.every_page import ACTS, EVERY_NAME, NO_PAGE, PAGES, Rendered, render_all
from tests.web.seen import in_browser, static_file
from tests.web.sheets import lacking

STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
QUICK = {"resultTypes": ["violations"], "preload": False, "iframes": False}
RULES = QUICK | {"runOnly": {"type": "tag", "values": STANDARDS}}
COLOURS = QUICK | {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
BAD = """<!doctype html><html lang="en"><title>Bad · Routines</title><h1>Bad</h1>
<link rel="stylesheet" href="/static/css/tokens.css"><p style="color:#aaa">Pale</p><input>
<p style="width: 400px">Wide</p></html>"""
INLINE = re.compile(
    r"<style|<[^>]+\s(style|on[a-z]+|hx-on[^=]*)=|<script(?![^>]*(\ssrc=|type=\"application/json))"
)
SHEET = re.compile(r'rel="stylesheet" href="([^"]+)"')


def test_every_address_is_a_page_an_act_or_has_a_reason() -> None:
    entries = [*PAGES, *ACTS, *NO_PAGE]
    assert sorted(entries) == sorted(set(entries)), "an address has two entries"
    assert EVERY_NAME - set(entries) == set(), "give these an entry in every_page.py"
    assert set(entries) - EVERY_NAME == set(), "these are gone from the URL conf"


@pytest.mark.long
@pytest.mark.browser
@pytest.mark.django_db
def test_every_page_is_whole_accessible_and_fits_a_phone() -> None:
    pages = render_all()
    for shown in pages:
        _is_whole(shown)
    found = in_browser(pages, lambda page, site: _flaws(page, site, pages))
    assert found == [], "\n".join(found)


@pytest.mark.browser
def test_what_is_wrong_with_a_page_is_found() -> None:
    bad = [Rendered("/bad/", "", BAD)]
    said = "\n".join(in_browser(bad, lambda page, site: _flaws(page, site, bad)))
    for flaw in ("in light: label", "in light: color-contrast", "is 408 px wide at 320: p."):
        assert flaw in said


def _is_whole(shown: Rendered) -> None:
    """It has a name and one heading, and no inline style or script; its sheets are there."""
    html = shown.html
    assert re.search(r"<title>[^<]+ · Routines</title>", html), shown.path
    assert html.count("<h1") == 1, shown.path
    assert not INLINE.search(html), (shown.path, INLINE.search(html))
    for sheet in SHEET.findall(html):
        assert static_file(sheet), f"{shown.path} asks for {sheet}"
    assert lacking(html) == set(), f"{shown.path} shows these without their sheets"


def _flaws(page: Page, site: str, pages: list[Rendered]) -> list[str]:
    """Breaches of WCAG in light and dark, of the page's own policy, and sideways scroll."""
    found: list[str] = []
    page.add_init_script(AXE_SCRIPT)
    page.on("console", lambda said: "Content Security" in said.text and found.append(said.text))
    for shown in pages:
        page.set_viewport_size({"width": 1280, "height": 800})
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        page.goto(site + shown.path)
        found += _violations(page, RULES, f"{shown.path} in light")
        page.emulate_media(color_scheme="dark")
        found += _violations(page, COLOURS, f"{shown.path} in dark")
        page.set_viewport_size({"width": 320, "height": 640})
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > 320:
            found.append(f"{shown.path} is {wide} px wide at 320: {page.evaluate(WIDEST)}")
    return found


# What reaches over the right edge; a box that scrolls by itself isn't told apart.
WIDEST = """() => [...document.querySelectorAll('body *')]
  .filter((e) => e.getBoundingClientRect().right > 321)
  .map((e) => e.tagName.toLowerCase() + '.' + (e.getAttribute('class') || ''))
  .slice(0, 6).join(', ')"""


def _violations(page: Page, options: dict[str, object], where: str) -> list[str]:
    results = page.evaluate("(options) => axe.run(options)", options)
    return [
        f"{where}: {broken['id']} at {node['target']}: {node['html'][:160]}"
        for broken in results["violations"]
        for node in broken["nodes"]
    ]
