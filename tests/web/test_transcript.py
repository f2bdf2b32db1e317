"""A run's steps as its page words them, without a database."""

from datetime import UTC, datetime, timedelta

import pytest

from routines_app.agents.turn import StepKind
from routines_app.models import Routine, Run, Step
from routines_app.rules.sentences import RunFacts, sentence_of
from routines_app.rules.status import RunStatus
from routines_app.web.progress import meters, track
from routines_app.web.run_look import to_look_at
from routines_app.web.run_words import elapsed
from routines_app.web.transcript import TranscriptLine, closing, transcript

AT = datetime(2026, 3, 22, 8, tzinfo=UTC)


def line(
    kind: StepKind, content: str = "", seconds: float = 0.0, **facts: object
) -> TranscriptLine:
    """The line of one step."""
    step = Step(
        number=1, kind=kind, title="make", content=content, seconds=seconds, facts=facts, at=AT
    )
    return transcript([step], AT)[0]


@pytest.mark.parametrize(
    ("kind", "reason", "seconds", "note"),
    [
        (StepKind.RAN, "timeout", 120.3, "ended at 2 minutes · 2 lines"),
        (StepKind.RAN, "timeout", 95.2, "ended at 1m 35s · 2 lines"),
        (StepKind.CHECK, "timeout", 60.1, "ended at 60 seconds · $0.00"),
        (StepKind.RAN, "cancelled", 3.0, "stopped · 2 lines"),
        (StepKind.RAN, "oom", 3.0, "out of memory · 2 lines"),
        (StepKind.RAN, "exit", 3.0, "exit 137 · 2 lines"),
    ],
)
def test_what_we_ended_doesnt_show_the_signals_code(
    kind: StepKind, reason: str, seconds: float, note: str
) -> None:
    assert line(kind, "a\nb", seconds, exit_code=137, reason=reason, lines=2).note == note


def test_a_command_that_failed_shows_the_end_of_what_it_printed() -> None:
    printed = "".join(f"line {number}\n" for number in range(1, 401))
    failed, worked = (line(StepKind.RAN, printed, exit_code=code) for code in (2, 0))
    assert failed.content.startswith("line 383\n") and failed.content.endswith("\nline 400")
    assert (failed.before, failed.left_out) == ("382 lines", 0)
    assert worked.content == printed.removesuffix("\n") or worked.content == printed
    assert not worked.before


@pytest.mark.parametrize(
    ("printed", "shown", "before"),
    [
        ("short\n", "short\n", ""),
        ("", "", ""),
        ("x" * 5_000, "x" * 4_000, "1,000 characters"),
        ("a\n" + "x" * 5_000, "x" * 4_000, "1 line"),
        ("x" * 3_990 + "\n" + "y" * 20, "y" * 20, "1 line"),
    ],
)
def test_the_end_of_a_long_line_is_bounded_too(printed: str, shown: str, before: str) -> None:
    found = line(StepKind.RAN, printed, exit_code=1)
    assert (found.content, found.before) == (shown, before)


@pytest.mark.parametrize(
    ("told", "above"),
    [
        ("wrongly", "The agent called this tool wrongly, and was told:"),
        ("unwilling", "This wasn’t done, and the agent was told:"),
        ("", ""),
    ],
)
def test_what_was_written_for_the_model_stands_below_a_persons_sentence(
    told: str, above: str
) -> None:
    found = line(StepKind.WROTE, "Give text as a text.", refused=True, told=told)
    assert (found.told, found.content) == (above, "Give text as a text.")


def test_a_command_inside_a_sentence_stands_in_quotes() -> None:
    loop = "for i in $(seq 9); do echo $i; done"
    ran = {"exit_code": 137, "reason": "timeout"}
    steps = [
        Step(kind=StepKind.RAN, title=loop, facts={"interrupted": True}),
        Step(kind=StepKind.RAN, title="make all", seconds=120.2, facts=ran),
        Step(kind=StepKind.RAN, title="make it", facts={"exit_code": 2}),
    ]
    found = to_look_at(Run(status=RunStatus.STOP_PERSON, effects_begun_at=AT), steps)
    assert found is not None
    assert found.not_certain[0][0] == f"How far “{loop}” got."
    assert found.certain == [
        "“make all” ran, once: ended at 2 minutes.",
        "“make it” ran, once, and ended with exit 2.",
    ]


@pytest.mark.parametrize(
    ("seconds", "figure"),
    [(1.23, "1.2s"), (14.97, "14s"), (51.6, "51s"), (60.4, "1m 00s"), (0.3, "0.3s")],
)
def test_a_runs_length_is_one_figure_wherever_its_page_says_it(seconds: float, figure: str) -> None:
    run = Run(
        routine=Routine(time_limit=timedelta(minutes=1)), snapshot={"check": ""},
        status=RunStatus.STOP_PERSON, queued_at=AT, waking_at=AT, awake_at=AT, effects_begun_at=AT,
        turn_at=AT + timedelta(seconds=0.2), finished_at=AT + timedelta(seconds=seconds),
    )  # fmt: skip
    length = elapsed(run, AT)
    said = sentence_of(run.status, RunFacts(person="Ada Byron", elapsed=length))
    assert said.text == f"Stopped by Ada Byron after {figure}."
    assert track(run, [], True, AT, "UTC")[3].note == f"after {figure}"
    time = meters(run, None, 0, "", AT)[1]
    assert (time.figure, time.remark) == (figure, "of 1 minute at most")
    closed = closing(run, AT, "UTC")
    assert closed is not None and closed.offset == f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
