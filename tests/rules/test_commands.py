"""The two commands, run as a person runs them: no database, no settings of the product."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BARE = """
import sys
import django
from django.conf import settings
settings.configure(INSTALLED_APPS=["routines_app.management"], SECRET_KEY="x", USE_TZ=True)
django.setup()
from importlib import import_module
command = import_module(f"routines_app.management.commands.{sys.argv[1]}").Command()
command.run_from_argv(["manage.py", *sys.argv[1:]])
"""


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BARE, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_next_runs_are_printed_in_utc() -> None:
    ran = _run(
        "next_runs",
        "0 9 * * 1-5",
        "--timezone=America/New_York",
        "--after=2026-11-30T00:00:00Z",
        "--count=5",
    )
    assert ran.stdout.splitlines() == [
        "2026-11-30T14:00:00Z",
        "2026-12-01T14:00:00Z",
        "2026-12-02T14:00:00Z",
        "2026-12-03T14:00:00Z",
        "2026-12-04T14:00:00Z",
    ]
    assert ran.returncode == 0


def test_words_name_the_ten_minute_gap() -> None:
    ran = _run("describe_schedule", "*/25 * * * *")
    assert "then only ten minutes to the next" in ran.stdout
    assert ran.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["next_runs", "0 0 30 2 *"], "February never has a 30th"),
        (["next_runs", "0 9 * * *", "--timezone=+01:00"], "Choose a place"),
        (["next_runs", "0 9 * * *", "--after=yesterday"], "Write --after with its offset"),
        (["next_runs", "0 9 * * *", "--count=0"], "from 1 to 1000"),
        (["describe_schedule", "@reboot"], "@reboot means"),
    ],
)
def test_bad_input_gets_a_sentence(arguments: list[str], advice: str) -> None:
    ran = _run(*arguments)
    assert advice in ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.returncode == 1


def test_the_rules_need_no_django() -> None:
    script = (
        "import sys\n"
        "sys.modules['django'] = None\n"
        "from routines_app.rules.cron import compile_cron\n"
        "from routines_app.rules import clock_changes, estimate, sentence\n"
        "print(compile_cron('@daily').text)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "0 0 * * *\n"
