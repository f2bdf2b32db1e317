"""A run that ends well by its code and has done nothing fails, and says how it did nothing."""

import itertools
from pathlib import Path

import pytest

from routines_app.agents.fruitless import MOST_REPEATS, Progress, without_result
from routines_app.agents.model import ModelRuntime
from routines_app.agents.turn import StepKind, TurnOutcome
from routines_app.agents.wording import refuses
from routines_app.rules.said import RunFacts
from routines_app.rules.sentences import sentence_of
from tests.agents.support import PROVIDERS, KeptSteps, choice_of, request
from tests.fakes.computer import FolderComputer
from tests.fakes.model_provider import Answer, FakeProvider, Script, call, finish
from tests.fakes.model_wire import Seen


def run(
    home: Path, script: Script, provider: str = "openai-compatible", **more: object
) -> tuple[TurnOutcome, KeptSteps, FakeProvider]:
    steps = KeptSteps()
    with FakeProvider(script) as fake:
        wanted = request(model=choice_of(fake, provider), cap=5_000_000, **more)
        outcome = ModelRuntime(pauses=(0.01,)).take_turn(wanted, FolderComputer(home), steps)
    assert fake.problems == []
    assert fake.meter.billed <= outcome.spent
    return outcome, steps, fake


def sentence(outcome: TurnOutcome) -> str:
    variant, reason = outcome.facts.get("variant", ""), outcome.facts.get("reason", "")
    facts = RunFacts(spent=outcome.spent, variant=str(variant), reason=str(reason))
    made = sentence_of(outcome.code, facts)
    return f"{made.text} {made.second}".strip()


LOOK = call("run_command", command="ls")
ABSENT = call("read_file", path="absent")
SHAPES: dict[str, tuple[list[Answer], str]] = {
    "an empty answer": ([Answer()], "gave an empty answer"),
    "blanks and marks": ([Answer(text=" …\n---\n")], "gave an empty answer"),
    "an empty answer after a look": ([LOOK, Answer()], "gave an empty answer"),
    "a polite refusal": ([Answer(text="I’m sorry, but I can’t help with that.")], "refused"),
    "a refusal by finish": ([finish("I cannot assist with this request.")], "refused"),
    "a refusal said to be no change": (
        [finish("I'm unable to help with that.", changed=False)],
        "refused",
    ),
    "nothing to show": ([finish("", body="")], ""),
    "nothing but marks to show": ([finish(" - ", body="\n\n**\n")], ""),
    "nothing after a look": ([LOOK, finish("")], ""),
    "nothing but its memory": ([call("write_file", path="state.md", text="x"), finish("")], ""),
    "nothing after calls that two tools refused": (
        [ABSENT, call("list_files", path="absent"), finish("")],
        "",
    ),
    "nothing after a refused call and a look": ([ABSENT, LOOK, finish("")], ""),
    "nothing after a command that found nothing": (
        [call("run_command", command="grep heron state.md 2>/dev/null || exit 1"), finish("")],
        "",
    ),
    "nothing after a call that the model got wrong": ([call("read_file"), finish("")], ""),
    "a refusal after a refused call": (
        [ABSENT, Answer(text="I’m sorry, but I can’t help with that.")],
        "refused",
    ),
}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_of_nothing_is_its_own_failure(
    tmp_path: Path, shape: str, provider: str
) -> None:
    script, variant = SHAPES[shape]
    outcome, steps, _ = run(tmp_path, script, provider)
    assert (outcome.code, outcome.facts["variant"]) == ("fail_empty", variant)
    assert steps.cost == outcome.spent > 0
    said = variant or "ran, spent "
    assert sentence(outcome).startswith(f"Failed. It {said}")


TOLD = "echo 'compiling…'; printf '\\033[31mmake: no rule for %s\\033[0m\\n' herons; exit 2"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ([ABSENT, finish("")], "harbour-1 refused: There is no file ~/"),
        ([LOOK, ABSENT, ABSENT, Answer()], "harbour-1 refused: There is no file ~/"),
        (
            [call("run_command", command=TOLD), finish("")],
            "The command refused: make: no rule for herons.",
        ),
        (
            [call("run_command", command="exit 3"), Answer()],
            "The command refused: it ended with exit 3.",
        ),
        (
            [call("fetch_url", url="http://127.0.0.1/?key=sk-canary"), finish("")],
            "127.0.0.1 refused: ",
        ),
    ],
)
def test_one_tool_that_refused_the_last_calls_is_what_it_failed_of(
    tmp_path: Path, script: list[Answer], said: str
) -> None:
    outcome, steps, _ = run(tmp_path, script)
    assert outcome.code == "fail_tool"
    assert sentence(outcome).startswith(f"Failed. {said}")
    assert "canary" not in sentence(outcome) and "\n" not in str(outcome.facts["reason"])
    assert steps.cost == outcome.spent > 0


def test_a_refusal_that_it_gets_over_is_no_failure(tmp_path: Path) -> None:
    outcome, _, _ = run(tmp_path, [ABSENT, finish("There's no such file, so nothing was read.")])
    assert outcome.code == "done_changed"


@pytest.mark.parametrize("provider", ["openai", "openai-compatible"])
def test_a_refusal_by_its_providers_own_sign_is_named_and_kept(
    tmp_path: Path, provider: str
) -> None:
    outcome, steps, _ = run(tmp_path, [Answer(refusal="That's not for me to do.")], provider)
    assert (outcome.code, outcome.facts["variant"]) == ("fail_empty", "refused")
    assert outcome.body == steps.steps[0].content == "That's not for me to do."
    assert steps.cost == outcome.spent


@pytest.mark.parametrize(
    ("script", "headline"),
    [
        ([call("write_file", path="report.md", text="x"), finish("")], ""),
        ([call("run_command", command="touch x"), Answer()], ""),
        ([finish("", body="## Four herons.\n\nThat's all.")], "Four herons."),
        ([finish("4")], "4"),
        ([Answer(text="I can't find any new commits.")], "I can't find any new commits."),
    ],
)
def test_an_effect_or_a_result_is_no_failure(
    tmp_path: Path, script: list[Answer], headline: str
) -> None:
    outcome, steps, _ = run(tmp_path, script)
    assert (outcome.code, outcome.headline) == ("done_changed", headline)
    assert steps.cost == outcome.spent


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_same_call_over_and_over_is_warned_of_and_then_ended(
    tmp_path: Path, provider: str
) -> None:
    outcome, steps, fake = run(tmp_path, lambda seen: LOOK, provider)
    assert (outcome.code, outcome.facts["variant"]) == ("fail_empty", "repeated itself")
    assert "The same call brought the same result: run_command: ls. Say" in sentence(outcome)
    assert steps.kinds.count(StepKind.RAN) == MOST_REPEATS + 1 == len(fake.seen)
    assert "You did exactly this before" not in str(fake.seen[2].results)
    assert fake.seen[3].results[-1].startswith("You did exactly this before")
    assert steps.steps[-1].title == "It repeated itself, so it was ended"


def test_two_calls_in_turn_are_a_circle_too(tmp_path: Path) -> None:
    moves = itertools.cycle([LOOK, call("read_file", path="absent"), call("fly")])
    outcome, _, fake = run(tmp_path, lambda seen: next(moves))
    assert outcome.facts["variant"] == "repeated itself"
    assert len(fake.seen) == 3 + MOST_REPEATS


def test_a_result_that_changes_is_progress(tmp_path: Path) -> None:
    def script(seen: Seen) -> Answer:
        if len(seen.results) == 9:
            return finish("Nine lines.")
        return call("run_command", command="echo x >> n; wc -l n")

    assert run(tmp_path, script)[0].headline == "Nine lines."


def test_waiting_between_looks_is_no_circle(tmp_path: Path) -> None:
    def script(seen: Seen) -> Answer:
        if len(seen.results) == 14:
            return finish("Still down.")
        wait = ("schedule", {"seconds": 1})
        return Answer(calls=(LOOK.calls[0], wait)) if len(seen.results) < 4 else finish("Down.")

    assert run(tmp_path, script)[0].headline == "Down."


def test_finish_called_wrongly_for_ever_is_ended(tmp_path: Path) -> None:
    outcome, _, fake = run(tmp_path, lambda seen: call("finish", headline="x", body=""))
    assert (outcome.code, outcome.facts["variant"]) == ("fail_empty", "repeated itself")
    assert len(fake.seen) == MOST_REPEATS + 1


@pytest.mark.parametrize("provider", PROVIDERS)
def test_answers_that_are_always_cut_off_are_ended(tmp_path: Path, provider: str) -> None:
    outcome, steps, fake = run(tmp_path, lambda seen: Answer(text="word " * 9_000), provider)
    assert (outcome.code, outcome.facts["variant"]) == ("fail_empty", "was cut off")
    assert "last three answers" in sentence(outcome)
    assert len(fake.seen) == 3
    assert outcome.body.startswith("word word")
    assert steps.cost == outcome.spent


def test_progress_begins_anew_after_something_new() -> None:
    progress = Progress()
    for number in range(10):
        progress.called("run_command", {"command": "ls"}, "same", "ls")
        if number % 3 == 0:
            progress.called("run_command", {"command": "ls"}, f"new {number}", "ls")
        progress.answered(cut=False)
        assert not progress.over
    for _ in range(MOST_REPEATS):
        progress.called("run_command", {"command": "ls"}, "same", "ls")
        progress.answered(cut=False)
    assert progress.over


def test_a_command_that_waits_is_no_circle() -> None:
    progress = Progress()
    for _ in range(3 * MOST_REPEATS):
        progress.called("run_command", {"command": "sleep 60; ask"}, "pending", "", 60.2)
        progress.answered(cut=False)
    assert not progress.over


@pytest.mark.parametrize(
    ("text", "yes"),
    [
        ("I'm sorry, but I can't help with that.", True),
        ("Sorry, I cannot assist with that request.", True),
        ("I can’t do that.", True),
        ("I won't comply with this.", True),
        ("I apologize, but as an AI language model, I am unable to fulfill your request.", True),
        ("Unfortunately, I'm not able to process this.", True),
        ("**I must decline.**", True),
        ("I can't find any new commits.", False),
        ("I cannot reach the site; it answers 503.", False),
        ("I'm sorry to report that sales fell 4%.", False),
        ("Sorry, sales fell.", False),
        ("They can't help with that.", False),
        ("I decreased the limit.", False),
        ("I can't help but notice that sales rose. " + "More of it. " * 60, False),
        ("", False),
    ],
)
def test_what_is_a_refusal(text: str, yes: bool) -> None:
    assert refuses(text) is yes


def test_a_result_is_looked_for_in_headline_and_body() -> None:
    assert without_result("", "") == ""
    assert without_result("", "Four.") is None
    assert without_result("I can't help with that.", "") == "refused"
    assert without_result("I can't help with that.", "## But here is the list") is None
