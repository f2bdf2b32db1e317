"""`python -m tests.first_run --times 10`: from sign-up to the first line of a transcript.

A real browser, a fresh installation, a new person each time, a starter that needs no model.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, sync_playwright

from foundation.clock import monotonic
from tests.browser import FLAGS
from tests.running_app import RunningApp
from tests.tools import browser_program, free_port, missing_tools

ALLOWED = 90.0  # seconds, for the median
WAIT = 120_000  # milliseconds


def main(arguments: list[str]) -> int:
    """0 when the median is within what is allowed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10, help="how often; default: 10")
    times = parser.parse_args(arguments).times
    missing = [why for name, why in missing_tools().items() if name in ("browser", "sandbox")]
    if missing or times < 1:
        print(" ".join([*missing, "Choose --times from 1."][:1]), file=sys.stderr)
        return 1
    ground = Path(tempfile.mkdtemp(prefix="routines-first-", dir="/tmp"))
    ground.chmod(0o755)
    # Here alone more than one person signs up by themselves: each is new to the product.
    app = RunningApp(
        ground / "var", free_port(), {"MACHINE_PROVIDER": "local", "OPEN_SIGNUP": "yes"}
    )
    try:
        began = monotonic()
        app.start()
        print(f"started in {monotonic() - began:.1f} s", flush=True)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=browser_program(), args=FLAGS)
            taken = [_told(browser, app.url, number) for number in range(1, times + 1)]
            browser.close()
    finally:
        app.stop()
        shutil.rmtree(ground, ignore_errors=True)
    middle = median(taken)
    print(f"p50 of {times}: {middle:.1f} s (allowed: {ALLOWED:.0f} s)")
    return 0 if middle < ALLOWED else 1


def _told(browser: Browser, url: str, number: int) -> float:
    seconds, line = first_line(browser, url, number)
    print(f"{number:>3}  {seconds:5.1f} s  {line}", flush=True)
    return seconds


def first_line(browser: Browser, url: str, number: int) -> tuple[float, str]:
    """Sign up, run the first starter, wait for a line: seconds since sign-up opened, the line."""
    context = browser.new_context()
    page = context.new_page()
    began = monotonic()
    page.goto(f"{url}/accounts/signup/")
    page.get_by_label("Your name").fill("Ada Byron")
    page.get_by_label("Email").fill(f"ada{number}@example.org")
    page.get_by_label("A password").fill("correct horse battery")
    page.get_by_role("button", name="Make an account").click()
    starter = page.locator(".starter", has=page.get_by_label("Folder", exact=True)).first
    starter.get_by_role("button", name="Run it now").click()
    page.wait_for_url("**/runs/1/", timeout=WAIT)
    line = page.locator("#steps > li").first
    line.wait_for(timeout=WAIT)
    seconds = monotonic() - began
    said = " ".join(line.inner_text().split())
    context.close()
    return seconds, said


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
