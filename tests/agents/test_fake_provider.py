"""The fake provider by hand: its default script, and its command line."""

import json
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from routines_app.agents import runtimes
from routines_app.agents.model import ModelRuntime
from routines_app.agents.turn import TurnOutcome
from tests.agents.support import PROVIDERS, KeptSteps, choice_of, request
from tests.fakes.computer import FolderComputer
from tests.fakes.model_provider import Fail, FakeProvider, Hang, clever, moves_of


def take(home: Path, task: str, provider: str = "openai-compatible") -> TurnOutcome:
    with FakeProvider(clever) as fake:
        wanted = request(task, model=choice_of(fake, provider), state="commit file notes.md")
        outcome = ModelRuntime().take_turn(wanted, FolderComputer(home), KeptSteps())
    assert fake.problems == []
    return outcome


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_task_about_commits_names_the_newest_one(tmp_path: Path, provider: str) -> None:
    folder = tmp_path / "routines/morning-numbers"
    folder.mkdir(parents=True)
    who = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    for argv in (
        ["git", "init", "-q"],
        ["git", *who, "commit", "-q", "--allow-empty", "-m", "First light"],
        ["git", *who, "commit", "-q", "--allow-empty", "-m", "Mend the tide table"],
    ):
        subprocess.run(argv, cwd=folder, check=True)
    outcome = take(tmp_path, "Tell me about new commits.", provider)
    assert outcome.headline == "The newest commit is “Mend the tide table”."
    assert "First light" in outcome.body


def test_a_folder_without_commits_is_nothing_to_report(tmp_path: Path) -> None:
    assert take(tmp_path, "Tell me about new commits.").code == "done_unchanged"


def test_a_task_about_a_file_reads_it(tmp_path: Path) -> None:
    FolderComputer(tmp_path).write_file("~/routines/morning-numbers/tides.md", b"High at six.\n")
    outcome = take(tmp_path, "Summarise tides.md for me.")
    assert outcome.headline == "It begins: High at six."


def test_a_file_that_isnt_there_is_nothing_to_report(tmp_path: Path) -> None:
    assert take(tmp_path, "Summarise tides.md for me.").code == "done_unchanged"


def test_any_other_task_is_done(tmp_path: Path) -> None:
    outcome = take(tmp_path, "Greet the harbour.\nWarmly.")
    assert (outcome.code, outcome.headline) == (
        "done_changed",
        "Did what was asked: Greet the harbour.",
    )


def test_a_connection_test_is_answered() -> None:
    with FakeProvider(clever) as fake:
        choice = choice_of(fake, "openai-compatible")
        assert runtimes.test_connection(choice.connection, choice.name).ok


def test_a_script_from_json() -> None:
    moves = moves_of([{"fail": 503}, {"hang": 2}, {"text": "a", "calls": [["f", {"b": 1}]]}])
    assert moves[:2] == [Fail(503), Hang(2.0)]
    with pytest.raises(ValueError, match="Give each move"):
        moves_of([{"sing": "a"}])


def test_it_serves_by_hand(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": "Good morning."}]))
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.fakes.model_provider", "--script", str(script)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        body = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
        asked = Request(
            f"{address}/chat/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urlopen(asked, timeout=10) as response:
            answer = json.load(response)
    finally:
        process.terminate()
        process.wait(timeout=10)
        if process.stdout is not None:
            process.stdout.close()
    assert answer["choices"][0]["message"]["content"] == "Good morning."
    assert answer["usage"]["prompt_tokens"] > 0
