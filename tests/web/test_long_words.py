"""A word without a space, such as a hash or a path, stays inside the page at a phone's width."""

from pathlib import Path

import pytest
from playwright.sync_api import Page

CSS = "".join(sheet.read_text() for sheet in sorted(Path("static/css").glob("*.css")))
WORD = "a" * 300


@pytest.mark.browser
@pytest.mark.parametrize(
    "html",
    [
        f"<div class='title'><div><h1>{WORD}</h1></div></div>",
        f"<ul><li><p class='say'><a>{WORD}</a></p><p>{WORD}</p></li></ul>",
        f"<div class='md'><p>{WORD}</p><ul><li>{WORD}</li></ul></div>",
    ],
)
def test_a_long_word_breaks_instead_of_widening_the_page(page: Page, html: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.set_content(f"<style>{CSS}</style><main>{html}</main>")
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0
