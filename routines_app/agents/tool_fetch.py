"""The tool that reads a page from the web."""

import re

from foundation import clock
from routines_app.agents.fetching import FETCH_SECONDS, NotFetched, Page, fetch
from routines_app.agents.page_text import decoded, page_text
from routines_app.agents.wording import one_line
from routines_app.agents.workplace import Done, Unwilling, Workplace, text_of

_HTML = {"text/html", "application/xhtml+xml"}
_TEXTS = re.compile(
    r"text/[\w.+-]+|application/([\w.-]+\+)?(json|xml|yaml|x-yaml|javascript|x-ndjson|toml|sql)"
)
_KIND = re.compile(r"\s*([\w.+-]{1,80}/[\w.+-]{1,80})\s*(?:;.*?charset=\"?([\w.:-]{1,40}))?")


def fetch_url(arguments: dict[str, object], place: Workplace) -> Done:
    url = text_of(arguments, "url").strip()
    left = place.ends_at - clock.monotonic()
    found = fetch(url, place.judge, place.check, _read, seconds=min(FETCH_SECONDS, left))
    if isinstance(found, NotFetched):
        raise Unwilling(found.sentence)
    page, text = found
    facts: dict[str, object] = {
        "status": page.status,
        "bytes": len(page.body),
        "lines": len(text.splitlines()),
    }
    if page.url != url:
        facts["url"] = page.url
        text = f"[it led on to {page.url}]\n{text}"
    if not page.whole:
        text += "\n[the page goes on; the rest wasn't read]"
    return one_line(url), text, facts


def _read(page: Page) -> tuple[Page, str]:
    return page, _text(page)


def _text(page: Page) -> str:
    """The page as text. Raises Unwilling for what is none."""
    named = _KIND.match(page.kind.lower())
    kind, charset = (named.group(1), named.group(2) or "") if named else ("", "")
    if not kind and b"\x00" not in page.body[:4096]:
        kind = "text/html" if b"<html" in page.body[:4096].lower() else "text/plain"
    if kind in _HTML:
        return page_text(decoded(page.body, charset)) or "The page has no text."
    if _TEXTS.fullmatch(kind):
        return decoded(page.body, charset)
    raise Unwilling(
        f"It's {kind or 'something unnamed'}, not a text, so it wasn't read. "
        "If the machine reaches the web, get it into a file there by run_command."
    )
