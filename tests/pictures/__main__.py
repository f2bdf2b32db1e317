"""`python -m tests.pictures`: start the app, seed it, take every page, write the contact sheet."""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from time import monotonic

from tests.pictures.camera import Guest, Roll, take
from tests.pictures.sheet import write_sheet
from tests.pictures.shown import Shown
from tests.running_app import ROOT, RunningApp
from tests.tools import free_port, missing_tools

PASSWORD = "look around freely"
FOLDER = ROOT / "var" / "shots"


def main() -> int:
    """0 when every page answered and every address had its arguments."""
    if why := missing_tools().get("browser"):
        print(f"{why}. Install it, then: make shots", file=sys.stderr)
        return 1
    named = os.environ.get("MOCKUPS", "")
    mockups = Path(named) if named else None
    if mockups is not None and not mockups.is_dir():
        print(f"There is no folder {mockups}. Name the mock-ups': MOCKUPS=dir", file=sys.stderr)
        return 1
    began = monotonic()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    ground = Path(tempfile.mkdtemp(prefix="routines-shots-", dir="/tmp"))
    ground.chmod(0o755)
    provider = "memory" if "sandbox" in missing_tools() else "local"
    app = RunningApp(ground / "var", free_port(), {"MACHINE_PROVIDER": provider})
    try:
        app.start()
        return _pictures(app, provider, mockups, began)
    finally:
        app.stop()
        shutil.rmtree(ground, ignore_errors=True)


def _pictures(app: RunningApp, provider: str, mockups: Path | None, began: float) -> int:
    os.environ |= {
        "ROUTINES_VAR": str(app.var),
        "PORT": str(app.port),
        "MACHINE_PROVIDER": provider,
        "DJANGO_SETTINGS_MODULE": "routines_app.settings",
    }
    import django

    django.setup()
    from django.core.management import call_command

    from routines_app.management.demo.place import GUEST
    from tests.pictures.pages import every_page

    first = Shown("sign-up-first-person", "/accounts/signup/", "sign-up", signed_out=True)
    rolls = [take(app.url, [first], FOLDER, None)]
    call_command("seed_demo", empty=True, password=PASSWORD)
    call_command("seed_demo", password=PASSWORD)
    print(f"Seeded after {monotonic() - began:.0f} s.", flush=True)
    found = every_page()
    rolls.append(take(app.url, found.pages, FOLDER, Guest(GUEST[0], PASSWORD)))
    pictures = [picture for roll in rolls for picture in roll.pictures]
    sheet = write_sheet(FOLDER, pictures, mockups)
    for picture in pictures:
        print(f"{picture.file:<58} {picture.page.path}")
    return _told(rolls, found.unknown, len(pictures), sheet, monotonic() - began)


def _told(rolls: list[Roll], unknown: list[str], count: int, sheet: Path, seconds: float) -> int:
    others = {name: why for roll in rolls for name, why in roll.not_pages.items()}
    wrong = {name: said for roll in rolls for name, said in roll.wrong.items()}
    for why in sorted(set(others.values())):
        print(f"No page, {why}: {', '.join(name for name in others if others[name] == why)}")
    for said in wrong.values():
        print(f"WRONG: {said}")
    for name in unknown:
        print(f"WRONG: no argument is known for the address {name}; add it to pages.py")
    print(f"{count} pictures in {seconds:.0f} s: {sheet}")
    return 1 if wrong or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
