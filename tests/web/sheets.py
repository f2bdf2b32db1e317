"""What the style sheets define, and what a page lacks of it."""

import re
from collections import defaultdict
from functools import cache
from pathlib import Path

SHEETS = Path("static/css")
_CLASS = re.compile(r"\.([a-zA-Z][\w-]*)")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_AROUND = re.compile(r":(?:not|has|where|is)\([^)]*\)")
_USED = re.compile(r'\sclass="([^"]*)"')
_LINKED = re.compile(r'href="/static/css/(\w+)\.css"')


@cache
def owners() -> dict[str, set[str]]:
    """For each class the sheets whose selectors name it."""
    found: dict[str, set[str]] = defaultdict(set)
    for sheet in SHEETS.glob("*.css"):
        for selector in _selectors(sheet.read_text()):
            for name in _CLASS.findall(selector):
                found[name].add(sheet.stem)
    return dict(found)


def _selectors(css: str) -> list[str]:
    heads = re.findall(r"([^{};]+)\{", _COMMENT.sub("", css))
    selectors = ",".join(head for head in heads if not head.strip().startswith("@"))
    return [part.strip() for part in _AROUND.sub("", selectors).split(",")]


def lacking(html: str) -> set[str]:
    """Classes of the page that some sheet names, but none that the page loads."""
    loaded = set(_LINKED.findall(html))
    used = {name for names in _USED.findall(html) for name in names.split()}
    return {
        f"{name} ({', '.join(sorted(owners()[name]))})"
        for name in used & owners().keys()
        if not owners()[name] & loaded
    }
