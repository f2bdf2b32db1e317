"""Working out who is needed: one small request within the cap, and what is read from its answer."""

from dataclasses import replace

import pytest

from routines_app.agents.routing import Candidate, Candidates, Picked, pick, read_pick
from routines_app.agents.turn import StepKind
from tests.agents.support import KeptSteps, choice_of, request
from tests.fakes.model_provider import Answer, Fail, FakeProvider, Meter, Move

NAMES = ["Assistant", "Analyst", "Writer", "Analyst of letters"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Analyst: it's about numbers", ("Analyst", "it's about numbers")),
        ("**Writer**: It turns notes into a letter.", ("Writer", "it turns notes into a letter")),
        ("\n\nANALYST - SQL is asked for", ("Analyst", "SQL is asked for")),
        ("Analyst of letters: both words fit", ("Analyst of letters", "both words fit")),
        ("Writer", ("Writer", "it fits best")),
        ("Writers: there are many", None),
        ("I would ask Analyst.", None),
        ("ready", None),
        ("", None),
    ],
)
def test_a_pick_is_the_name_that_the_answer_begins_with(
    text: str, expected: tuple[str, str] | None
) -> None:
    assert read_pick(text, NAMES) == expected


def ask(
    move: Move, *, cap: int = 500_000, only_one: bool = False
) -> tuple[Picked, KeptSteps, Meter]:
    steps = KeptSteps()
    with FakeProvider([move], Meter(bytes_per_token=2.5)) as fake:
        choice = choice_of(fake, "openai-compatible")
        roster = tuple(
            Candidate(name.lower(), name, number, f"The purpose of {name}.", "", (), choice)
            for number, name in enumerate(NAMES[:1] if only_one else NAMES, 1)
        )
        picked = pick(request("Add up the week.", cap=cap), Candidates(roster[0], roster), steps)
    assert fake.problems == []
    assert len(fake.seen) <= 1
    for seen in fake.seen:
        assert seen.tools == ()
        assert "- Writer: The purpose of Writer." in seen.text
        assert "Add up the week." in seen.text
    return picked, steps, fake.meter


def test_the_step_says_whom_it_picked_why_and_what_that_cost() -> None:
    picked, steps, meter = ask(Answer(text="Analyst: it's about numbers"))
    assert (picked.candidate.name, picked.reason) == ("Analyst", "it's about numbers")
    (step,) = steps.steps
    assert (step.kind, step.title) == (
        StepKind.NOTE,
        "Assistant picked Analyst: it's about numbers",
    )
    assert step.facts["version"] == 2
    assert step.cost == picked.spent == steps.told[-1][0] == meter.billed > 0
    assert picked.usage.requests == 1


@pytest.mark.parametrize(
    ("move", "why"),
    [
        (Answer(text="Let me think about that."), "its answer named none of the agents"),
        (Fail(500), "the question who is needed got no answer"),
    ],
)
def test_a_pick_that_cannot_be_read_leaves_it_to_assistant(move: Move, why: str) -> None:
    picked, steps, meter = ask(move)
    assert (picked.candidate.name, picked.reason) == ("Assistant", "")
    assert steps.steps[-1].title == f"Assistant does it itself: {why}"
    assert picked.spent == steps.cost >= meter.billed


def test_a_cap_without_room_asks_nothing() -> None:
    picked, steps, meter = ask(Answer(text="Analyst: numbers"), cap=50)
    assert (picked.candidate.name, picked.spent, meter.requests) == ("Assistant", 0, 0)
    assert "the cap leaves no room" in steps.steps[0].title


def test_with_nobody_else_there_is_nothing_to_ask() -> None:
    picked, steps, meter = ask(Answer(text="Assistant: alone"), only_one=True)
    assert (picked.candidate.name, steps.steps, meter.requests) == ("Assistant", [], 0)


def test_what_was_spent_before_counts_against_the_cap() -> None:
    steps = KeptSteps()
    with FakeProvider([Answer(text="Writer: words")]) as fake:
        choice = choice_of(fake, "openai-compatible")
        roster = tuple(Candidate(n.lower(), n, 1, "It works.", "", (), choice) for n in NAMES[:3])
        before = replace(request(cap=500_000), spent=499_990)
        picked = pick(before, Candidates(roster[0], roster), steps)
    assert (picked.spent, fake.seen) == (499_990, [])


def of_these(able: list[str], move: Move) -> tuple[Picked, KeptSteps, list[str]]:
    """Who does it where only `able` of the roster may use an app, and what Assistant was told."""
    steps = KeptSteps()
    with FakeProvider([move]) as fake:
        choice = choice_of(fake, "openai-compatible")
        roster = {n: Candidate(n.lower(), n, 1, "It works.", "", (), choice) for n in NAMES}
        among = Candidates(
            roster["Assistant"], tuple(roster[name] for name in able), needs="Helpdesk"
        )
        picked = pick(request("Add up the week."), among, steps)
    return picked, steps, [seen.text for seen in fake.seen]


@pytest.mark.parametrize(
    ("able", "who", "title"),
    [
        (["Writer"], "Writer", "Assistant picked Writer: only it may use Helpdesk"),
        (["Assistant"], "Assistant", "Assistant does it itself: no other agent may use Helpdesk"),
    ],
)
def test_where_one_alone_may_use_a_required_app_nothing_is_asked_and_it_is_said(
    able: list[str], who: str, title: str
) -> None:
    picked, steps, told = of_these(able, Answer(text="Analyst: numbers"))
    assert (picked.candidate.name, picked.reason) == (who, "only it may use Helpdesk")
    assert ([step.title for step in steps.steps], picked.spent, told) == ([title], 0, [])


def test_whoever_may_not_use_a_required_app_is_not_offered_nor_falls_back_on() -> None:
    picked, steps, (told,) = of_these(["Writer", "Analyst"], Answer(text="Assistant: it is able"))
    assert "- Assistant" not in told and "- Writer" in told and "choose Writer." in told
    assert (picked.candidate.name, picked.reason) == ("Writer", "")
    assert steps.steps[-1].title == "Writer does it: its answer named none of the agents"
