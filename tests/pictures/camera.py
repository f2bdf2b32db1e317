"""Taking the pictures: one browser, a context for each look, several at once."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from playwright.async_api import Browser, Page, StorageState, async_playwright

from tests.browser import FLAGS
from tests.pictures.shown import Shown
from tests.tools import browser_program

AT_ONCE = 3
_HEIGHTS = {1440: 900, 390: 844}


@dataclass(frozen=True)
class Look:
    """One way to look at a page. `width` in CSS pixels, `scheme` light or dark."""

    width: int
    scheme: str

    @property
    def name(self) -> str:
        """As a picture's name has it."""
        return f"{self.width}-{self.scheme}"


LOOKS = [Look(width, scheme) for width in (1440, 390) for scheme in ("light", "dark")]
OF_STATES = [LOOKS[0], LOOKS[-1]]


@dataclass(frozen=True)
class Picture:
    """One that was taken."""

    page: Shown
    look: Look
    file: str


@dataclass
class Roll:
    """What came of it: pictures, addresses that aren't pages and why, and what answered wrongly."""

    pictures: list[Picture] = field(default_factory=list)
    not_pages: dict[str, str] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Guest:
    """How to sign in."""

    email: str
    password: str


def take(url: str, pages: Sequence[Shown], folder: Path, guest: Guest | None) -> Roll:
    """Take every page in its looks. `guest` None: nobody is signed in."""
    return asyncio.run(_take(url, pages, folder, guest))


async def _take(url: str, pages: Sequence[Shown], folder: Path, guest: Guest | None) -> Roll:
    roll = Roll()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=browser_program(), args=FLAGS)
        signed_in = await _sign_in(browser, url, guest) if guest else None
        pages = await _pages_among(browser, url, pages, signed_in, roll)
        gate = asyncio.Semaphore(AT_ONCE)
        await asyncio.gather(
            *(
                _through(browser, url, pages, folder, look, out, signed_in, gate, roll)
                for look in LOOKS
                for out in (False, True)
            )
        )
        await browser.close()
    order = [page.name for page in pages]
    roll.pictures.sort(key=lambda each: (order.index(each.page.name), LOOKS.index(each.look)))
    return roll


async def _sign_in(browser: Browser, url: str, guest: Guest) -> StorageState:
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(f"{url}/accounts/login/")
    await page.locator("input[name=login]").fill(guest.email)
    await page.locator("input[name=password]").fill(guest.password)
    await page.locator("input[name=password]").press("Enter")
    await page.wait_for_url("**/w/**")
    state = await context.storage_state()
    await context.close()
    return state


async def _through(
    browser: Browser,
    url: str,
    pages: Sequence[Shown],
    folder: Path,
    look: Look,
    signed_out: bool,
    signed_in: StorageState | None,
    gate: asyncio.Semaphore,
    roll: Roll,
) -> None:
    """All pages of one look, for whoever is signed in or for nobody."""
    mine = [p for p in pages if p.signed_out == signed_out and (not p.state or look in OF_STATES)]
    if not mine:
        return
    context = await browser.new_context(
        viewport={"width": look.width, "height": _HEIGHTS[look.width]},
        color_scheme="dark" if look.scheme == "dark" else "light",
        reduced_motion="reduce",
        storage_state=None if signed_out else signed_in,
    )
    page = await context.new_page()
    for shown in mine:
        async with gate:
            await _one(page, url, shown, look, folder, roll)
    await context.close()


async def _one(page: Page, url: str, shown: Shown, look: Look, folder: Path, roll: Roll) -> None:
    await page.set_viewport_size({"width": look.width, "height": _HEIGHTS[look.width]})
    answer = await page.goto(url + shown.path, wait_until="load")
    status = answer.status if answer else 0
    if status >= 500 or (status >= 400 and not shown.name.startswith("error-")):
        roll.wrong[shown.name] = f"{shown.path} answers {status}"
    # As tall as the page: what sticks to the window's edges then stands at the page's.
    tall = int(await page.evaluate("document.documentElement.scrollHeight"))
    await page.set_viewport_size({"width": look.width, "height": max(tall, _HEIGHTS[look.width])})
    file = f"{shown.name}_{look.name}.png"
    # as tall as the page: what sticks to the window's edges stands at the picture's
    tall = await page.evaluate("document.documentElement.scrollHeight")
    height = _HEIGHTS[look.width]
    await page.set_viewport_size({"width": look.width, "height": max(tall, height)})
    await page.screenshot(path=folder / file, animations="disabled")
    await page.set_viewport_size({"width": look.width, "height": height})
    roll.pictures.append(Picture(shown, look, file))


async def _pages_among(
    browser: Browser, url: str, shown: Sequence[Shown], signed_in: StorageState | None, roll: Roll
) -> list[Shown]:
    """Those that are pages: what is only for POST or downloads a file has nothing to look at."""
    context = await browser.new_context(storage_state=signed_in)
    pages = []
    for each in shown:
        if each.state:
            pages.append(each)
            continue
        answer = await context.request.get(url + each.path, max_redirects=0)
        kind = answer.headers.get("content-type", "").partition(";")[0]
        if answer.status == 405 or (answer.ok and kind != "text/html"):
            roll.not_pages[each.name] = kind if answer.ok else "only for POST"
        else:
            pages.append(each)
    await context.close()
    return pages
