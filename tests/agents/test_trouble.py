"""What goes wrong between us and a provider: retries, refusals, redirects, silence, Stop."""

import threading
import time
from pathlib import Path

import pytest

from routines_app.agents.asking import given_up
from routines_app.agents.model import ModelRuntime
from routines_app.agents.trouble import NO_ANSWER, SAID_NO, TURNED_AWAY, Trouble
from routines_app.agents.turn import StepKind, TurnInterrupted, TurnOutcome
from tests.agents.support import KEY, PROVIDERS, KeptSteps, choice_of, request
from tests.fakes.computer import FolderComputer
from tests.fakes.model_provider import (
    Answer,
    Fail,
    FakeProvider,
    Garbage,
    Hang,
    Move,
    Redirect,
    call,
    finish,
)
from tests.fakes.model_wire import OpenAIChat

ERRED_EACH_TIME = "answered with an error three times"
SECRET_TASK = "Count the herons at pond 4f1c."


def run(
    home: Path, script: list[Move], provider: str = "openai-compatible", **more: object
) -> tuple[TurnOutcome, KeptSteps, FakeProvider]:
    steps = KeptSteps()
    settings = {
        "pauses": (0.01, 0.01),
        "silence": 0.5,
        **{name: more.pop(name) for name in ("pauses", "silence", "longest") if name in more},
    }
    with FakeProvider(script) as fake:
        wanted = request(SECRET_TASK, model=choice_of(fake, provider), **more)
        runtime = ModelRuntime(**settings)  # type: ignore[arg-type]
        outcome = runtime.take_turn(wanted, FolderComputer(home), steps)
    assert fake.problems == []
    return outcome, steps, fake


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("status", [500, 503, 529, 429])
def test_two_failures_and_then_an_answer(tmp_path: Path, provider: str, status: int) -> None:
    outcome, steps, fake = run(tmp_path, [Fail(status), Fail(status), finish("Got it.")], provider)
    assert outcome.headline == "Got it."
    assert len(fake.seen) == 3
    assert steps.kinds == [StepKind.NOTE, StepKind.NOTE, StepKind.FINISHED]
    paid = steps.steps[0].cost
    assert (paid > 0) == (status == 500), "only a try that may have worked is charged"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_three_failures_are_the_end(tmp_path: Path, provider: str) -> None:
    outcome, _, fake = run(tmp_path, [Fail(503, "Busy.")] * 9, provider)
    assert outcome.code == "fail_model"
    assert outcome.facts["variant"] in ("turned it away three times", ERRED_EACH_TIME)
    assert "Busy." in str(outcome.facts["reason"])
    assert len(fake.seen) == 3


def test_what_answered_once_isnt_said_to_have_been_silent() -> None:
    busy, silent = Trouble(TURNED_AWAY, "Busy", again=True), Trouble(NO_ANSWER, "Hush", again=True)
    found = [
        (given.variant, given.reason)
        for given in (
            given_up([silent, silent, silent]),
            given_up([busy, busy, silent]),
            given_up([silent, busy], "No time is left."),
            given_up([busy, Trouble(SAID_NO, "No.")]),
        )
    ]
    assert found == [
        ("didn't answer after three tries", "Hush"),
        ("turned it away twice", "Busy"),
        ("turned it away once", "Busy. No time is left."),
        ("said no", "No."),
    ]


def test_the_providers_own_wait_is_kept(tmp_path: Path) -> None:
    began = time.monotonic()
    outcome, _, _ = run(tmp_path, [Fail(429, headers={"Retry-After": "1"}), finish()])
    assert outcome.code == "done_changed"
    assert time.monotonic() - began >= 1.0


def test_a_wait_past_the_deadline_isnt_begun(tmp_path: Path) -> None:
    began = time.monotonic()
    outcome, _, fake = run(tmp_path, [Fail(429, headers={"Retry-After": "600"}), finish()])
    assert outcome.code == "fail_model"
    assert outcome.facts["variant"] == "turned it away once"
    assert "in 600s" in str(outcome.facts["reason"])
    assert time.monotonic() - began < 5
    assert len(fake.seen) == 1


@pytest.mark.parametrize(
    ("provider", "kind", "message"),
    [
        ("openai", "insufficient_quota", "You exceeded your current quota."),
        ("openai-compatible", "", "Your project has reached its spending limit."),
        ("anthropic", "rate_limit_error", "You have reached your specified API usage limits."),
        ("google", "", "Your project has exceeded its monthly spending limit."),
    ],
)
def test_a_spend_limit_isnt_tried_again(
    tmp_path: Path, provider: str, kind: str, message: str
) -> None:
    outcome, _, fake = run(tmp_path, [Fail(429, message, kind)] * 3, provider)
    assert (outcome.code, outcome.facts["variant"]) == ("fail_model", "said no")
    assert message in str(outcome.facts["reason"])
    assert len(fake.seen) == 1
    assert outcome.spent == 0


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_a_refusal_is_in_the_providers_words(tmp_path: Path, provider: str, status: int) -> None:
    message = f"No such thing for {KEY}."
    outcome, steps, fake = run(tmp_path, [Fail(status, message)] * 3, provider)
    assert (outcome.code, outcome.facts["variant"]) == ("fail_model", "said no")
    assert "No such thing" in str(outcome.facts["reason"])
    assert KEY not in repr(outcome) + repr(steps.steps), "a key never reaches a row"
    assert (len(fake.seen), outcome.spent) == (1, 0)


@pytest.mark.parametrize("kind", ["INTERNAL", "Request Entity Too Large"])
def test_what_http_says_stands_above_the_name_that_a_gateway_gives_it(
    tmp_path: Path, kind: str
) -> None:
    outcome, _, fake = run(tmp_path, [Fail(413, "It is too large.", kind)] * 3, "google")
    assert (outcome.code, outcome.facts["variant"]) == ("fail_model", "said no")
    assert (len(fake.seen), outcome.spent) == (1, 0)


@pytest.mark.parametrize(
    ("provider", "kind", "message"),
    [
        ("openai", "context_length_exceeded", "Too long."),
        ("openai-compatible", "", "This model's maximum context length is 8192 tokens."),
        (
            "anthropic",
            "invalid_request_error",
            "prompt is too long: 250000 tokens > 200000 maximum",
        ),
        (
            "google",
            "",
            "The input token count (9) exceeds the maximum number of tokens allowed (8).",
        ),
    ],
)
def test_more_than_it_can_read(tmp_path: Path, provider: str, kind: str, message: str) -> None:
    outcome, _, _ = run(tmp_path, [Fail(400, message, kind)], provider)
    assert outcome.facts["variant"] == "was sent more than it can read"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_redirect_takes_neither_key_nor_task_elsewhere(tmp_path: Path, provider: str) -> None:
    with FakeProvider() as elsewhere:
        to = f"http://127.0.0.1:{elsewhere.port}/v1/messages"
        outcome, _, fake = run(tmp_path, [Redirect(to)] * 3, provider)
    assert elsewhere.seen == []
    assert elsewhere.problems == []
    assert (outcome.code, outcome.facts["variant"]) == (
        "fail_model",
        "sent us to another address",
    )
    assert len(fake.seen) == 1
    assert SECRET_TASK in fake.seen[0].text


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9])
def test_a_cut_stream_fails_and_does_nothing(tmp_path: Path, provider: str, share: float) -> None:
    cut = Answer(
        text="I have begun.", calls=(("run_command", {"command": "touch done"}),), cut_at=share
    )
    outcome, steps, fake = run(tmp_path, [cut], provider)
    assert outcome.code == "fail_model"
    assert outcome.spent >= fake.meter.billed > 0
    assert steps.cost == outcome.spent
    assert not (tmp_path / "routines/morning-numbers/done").exists()
    assert len(fake.seen) == 1
    if share == 0.9:
        assert outcome.body == "I have begun."
        assert steps.kinds[0] == StepKind.SAID


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_answer_without_a_count_is_charged_at_its_worst(tmp_path: Path, provider: str) -> None:
    outcome, steps, fake = run(tmp_path, [Answer(text="Free?", counted=False)], provider)
    assert outcome.code == "fail_model"
    assert outcome.facts["variant"] == "didn't say what its answer cost"
    assert outcome.spent > fake.meter.billed
    assert steps.cost == outcome.spent


@pytest.mark.parametrize(
    "counts",
    [
        {"completion_tokens": -1},
        {"completion_tokens": 10**19},
        {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 11}},
    ],
)
def test_a_count_that_can_t_be_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counts: dict[str, object]
) -> None:
    real = OpenAIChat._usage
    monkeypatch.setattr(OpenAIChat, "_usage", lambda wire, sent: real(wire, sent) | counts)
    outcome, steps, _ = run(tmp_path, [Answer(text="Free?")])
    assert outcome.code == "fail_model"
    assert 0 < outcome.spent == steps.cost <= request("x").cap


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("body", [b"data: {not json\n\n", b"<html>Welcome</html>", b""])
def test_an_answer_of_another_kind_fails(tmp_path: Path, provider: str, body: bytes) -> None:
    outcome, _, fake = run(tmp_path, [Garbage(body)], provider)
    assert outcome.code == "fail_model"
    assert outcome.facts["reason"]
    assert len(fake.seen) == 1


IN_STREAM = b"""event: error
data: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}

"""


def test_an_error_inside_a_stream_is_tried_again_and_charged(tmp_path: Path) -> None:
    outcome, steps, fake = run(tmp_path, [Garbage(IN_STREAM), finish("Back.")], "anthropic")
    assert outcome.headline == "Back."
    assert len(fake.seen) == 2
    assert steps.steps[0].cost > 0


def test_text_that_no_database_stores_is_mended(tmp_path: Path) -> None:
    outcome, steps, _ = run(tmp_path, [finish("a\x00b", body="c\x00d")])
    assert outcome.headline == "a\ufffdb"
    assert outcome.body == "c\ufffdd"
    assert "\x00" not in steps.steps[0].title + steps.steps[0].content


def test_silence_ends_a_try(tmp_path: Path) -> None:
    outcome, _, fake = run(tmp_path, [Hang(20.0), finish("At last.")])
    assert outcome.headline == "At last."
    assert len(fake.seen) == 2
    assert outcome.spent >= fake.meter.billed


def test_a_stream_of_heartbeats_ends_too(tmp_path: Path) -> None:
    began = time.monotonic()
    outcome, _, _ = run(tmp_path, [Hang(20.0, beats=True)] * 3, longest=0.6)
    assert outcome.facts["variant"] == "didn't answer after three tries"
    assert time.monotonic() - began < 8


def test_nobody_at_the_address(tmp_path: Path) -> None:
    with FakeProvider() as fake:
        choice = choice_of(fake, "openai-compatible")
    steps = KeptSteps()
    runtime = ModelRuntime(pauses=(0.01, 0.01))
    outcome = runtime.take_turn(request(model=choice), FolderComputer(tmp_path), steps)
    assert outcome.facts["variant"] == "didn't answer after three tries"
    assert outcome.spent == 0


class StopSoon:
    """Presses Stop 0.3 s after the fake got its first request; `at` is when."""

    def __init__(self, fake: FakeProvider) -> None:
        self.fake = fake
        self.at = 0.0
        self.steps = KeptSteps(stop=lambda: self.at > 0)
        self._thread = threading.Thread(target=self._press)

    def _press(self) -> None:
        until = time.monotonic() + 30
        while not self.fake.seen and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.3)
        self.at = time.monotonic()

    def take(self, home: Path, runtime: ModelRuntime, provider: str) -> float:
        """Seconds from Stop to the end of the turn, which is interrupted."""
        self._thread.start()
        wanted = request(model=choice_of(self.fake, provider), seconds=60.0)
        with pytest.raises(TurnInterrupted):
            runtime.take_turn(wanted, FolderComputer(home), self.steps)
        ended = time.monotonic()
        self._thread.join()
        return ended - self.at


@pytest.mark.parametrize("provider", PROVIDERS)
def test_stop_during_a_hung_request_takes_under_a_second(tmp_path: Path, provider: str) -> None:
    with FakeProvider([Hang(30.0)]) as fake:
        stop = StopSoon(fake)
        assert stop.take(tmp_path, ModelRuntime(), provider) < 1.0
    assert stop.steps.steps == []
    assert stop.steps.told[-1][0] >= fake.meter.billed, "what was sent may be billed: it counts"


def test_stop_while_waiting_to_try_again_takes_under_a_second(tmp_path: Path) -> None:
    with FakeProvider([Fail(503)]) as fake:
        stop = StopSoon(fake)
        runtime = ModelRuntime(pauses=(20.0,))
        assert stop.take(tmp_path, runtime, "openai-compatible") < 1.0
    assert len(fake.seen) == 1
    assert stop.steps.told[-1][0] == 0


def test_stop_during_a_command_ends_it(tmp_path: Path) -> None:
    with FakeProvider([call("run_command", command="sleep 30; touch late")]) as fake:
        stop = StopSoon(fake)
        assert stop.take(tmp_path, ModelRuntime(), "openai-compatible") < 1.0
    assert len(fake.seen) == 1


def test_time_that_runs_out_during_a_request_is_on_the_row(tmp_path: Path) -> None:
    outcome, steps, fake = run(tmp_path, [Hang(20.0)], seconds=1.0, silence=20.0)
    assert (outcome.code, outcome.facts["variant"]) == ("stop_time", "seconds")
    assert outcome.spent >= fake.meter.billed > 0
    assert steps.cost == outcome.spent


def test_threads_and_loops_dont_outlive_a_turn(tmp_path: Path) -> None:
    run(tmp_path, [finish()])
    assert [each.name for each in threading.enumerate() if each.name == "model"] == []
