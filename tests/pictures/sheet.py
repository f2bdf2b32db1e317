"""The contact sheet: each page's pictures in a row, with its mock-up's."""

import shutil
from collections.abc import Sequence
from html import escape
from itertools import groupby
from pathlib import Path

from tests.pictures.camera import Picture

_STYLE = """
body { font: 14px/1.5 sans-serif; margin: 2rem; }
.row { display: flex; gap: 1rem; align-items: flex-start; overflow-x: auto; }
figure { margin: 0 0 2rem; flex: none; }
img { height: 420px; width: auto; border: 1px solid #bbb; display: block; }
figure.mockup img { border-color: #b5651d; }
"""


def write_sheet(folder: Path, pictures: Sequence[Picture], mockups: Path | None) -> Path:
    """Write `index.html` into `folder`; the mock-ups that it shows are copied beside it."""
    rows = []
    for name, group in groupby(pictures, key=lambda each: each.page.name):
        own = list(group)
        figures = [_figure(each.file, each.look.name) for each in own]
        for mockup in _mockups(mockups, own[0].page.mockup):
            (folder / "mockups").mkdir(exist_ok=True)
            shutil.copy(mockup, folder / "mockups" / mockup.name)
            figures.append(_figure(f"mockups/{mockup.name}", f"mock-up: {mockup.stem}", "mockup"))
        path = escape(own[0].page.path)
        rows.append(
            f'<h2 id="{name}">{name}</h2><p>{path}</p><div class="row">{"".join(figures)}</div>'
        )
    file = folder / "index.html"
    file.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Every page</title>'
        f"<style>{_STYLE}</style><h1>Every page</h1>{''.join(rows)}</html>\n"
    )
    return file


def _mockups(folder: Path | None, stem: str) -> list[Path]:
    """The mock-up of that name and its variants (`-phone`, `-dark`), those that are there."""
    if folder is None or not stem:
        return []
    named = [folder / f"{stem}{ending}.png" for ending in ("", "-dark", "-phone")]
    return [file for file in named if file.is_file()]


def _figure(file: str, caption: str, kind: str = "") -> str:
    return (
        f'<figure class="{kind}"><a href="{file}"><img loading="lazy" src="{file}" alt=""></a>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )
