"""Every status reads as a sentence, whatever the facts lack."""

import pytest

from routines_app.rules.sentences import RunFacts, sentence_of
from routines_app.rules.status import RunStatus, Shape


@pytest.mark.parametrize("status", list(RunStatus))
def test_every_status_has_a_sentence_even_without_facts(status: RunStatus) -> None:
    sentence = sentence_of(status, RunFacts())
    assert sentence.lead
    assert sentence.text.endswith((".", "?", "to do.")) or status is RunStatus.STOP_PERSON
    assert "None" not in sentence.text
    assert "{" not in sentence.text


def test_a_code_that_nobody_knows_still_reads_as_a_sentence() -> None:
    assert (
        sentence_of("fail_new", RunFacts()).text == 'Ended as "fail_new". The log has the detail.'
    )


def test_a_capped_run_says_how_far_it_got() -> None:
    facts = RunFacts(spent=470_000, cap=500_000, doing="reading a long page")
    assert sentence_of("stop_cost", facts).text == (
        "Hit its cost cap. Stopped at $0.47 of $0.50 while reading a long page."
    )


def test_a_run_that_goes_on_says_once_that_it_runs() -> None:
    said = [
        sentence_of("running", RunFacts(doing=doing)).text
        for doing in ("running make test", "reading notes.md", "")
    ]
    assert said == ["Running. At make test.", "Running. Reading notes.md.", "Running."]


def test_a_model_is_quoted_only_with_its_own_words() -> None:
    said = [
        sentence_of("fail_model", RunFacts(variant=variant, reason=reason)).rest
        for variant, reason in (
            ("said no", "Incorrect API key provided."),
            ("broke off in the middle of its answer", "The stream ended without a reason"),
            ("gave an answer that can't be read", "Expecting value: line 1"),
            ("didn't answer after one try", "It was silent for too long."),
            ("", "Connection error."),
            ("turned it away three times", "Rate limit reached."),
            ("answered with an error once", "Busy."),
            ("couldn't be asked", "That address is on a private network."),
        )
    ]
    assert said == [
        "The model said no. It said: Incorrect API key provided.",
        "The model broke off in the middle of its answer. The stream ended without a reason.",
        "The model gave an answer that can't be read. Expecting value: line 1.",
        "The model didn't answer after one try. It was silent for too long.",
        "The model didn’t answer after three tries. Connection error.",
        "The model turned it away three times. It said: Rate limit reached.",
        "The model answered with an error once. It said: Busy.",
        "The model couldn't be asked. That address is on a private network.",
    ]


@pytest.mark.parametrize(
    ("variant", "act"),
    [
        ("", "run_now"),
        ("didn't answer after one try", "run_now"),
        ("turned it away three times", "run_now"),
        ("answered with an error once", "run_now"),
        ("broke off in the middle of its answer", "run_now"),
        ("was sent more than it can read", "edit_work"),
        ("said no", "models"),
        ("sent us to another address", "models"),
        ("couldn't be asked", "models"),
        ("isn't chosen", "models"),
        ("has no price", "models"),
        ("didn't say what its answer cost", "models"),
    ],
)
def test_another_run_is_offered_only_where_the_models_trouble_passes(
    variant: str, act: str
) -> None:
    made = sentence_of("fail_model", RunFacts(variant=variant, reason="Used up.")).act
    assert made is not None and made.code == act


@pytest.mark.parametrize(
    ("variant", "reason", "second", "act"),
    [
        ("gave an empty answer", "", "Another run often brings one. ", "run_now"),
        ("refused", "", "Say in the task what it is for ", "edit_work"),
        ("refused", "A filter held it back.", "A filter held it back. Say in the ", "edit_work"),
        ("was cut off", "Each was too long.", "Each was too long. Ask for less ", "edit_work"),
        ("repeated itself", "", "Say in the task what to do when ", "edit_work"),
        ("", "", "Say in the task what it shall bring, ", "edit_work"),
    ],
)
def test_what_to_try_after_a_run_that_came_to_nothing(
    variant: str, reason: str, second: str, act: str
) -> None:
    said = sentence_of("fail_empty", RunFacts(variant=variant, reason=reason))
    assert said.second.startswith(second) and said.second.endswith(".")
    assert said.act is not None and said.act.code == act


def test_a_model_failure_says_what_was_kept_only_where_something_was() -> None:
    said = [
        sentence_of("fail_model", RunFacts(files_changed=files, left_text=text)).second
        for files, text in ((0, False), (0, True), (1, True), (1_200, False))
    ]
    assert said == [
        "",
        "What had come of its answer was kept.",
        "The file that it had changed was kept.",
        "The 1,200 files that it had changed were kept.",
    ]


def test_done_is_never_alone() -> None:
    assert sentence_of("done_changed", RunFacts(files_changed=2)).text == (
        "Done. It left no summary. Changed 2 files."
    )
    assert sentence_of("done_changed", RunFacts()).rest


def test_refusals_never_count_and_failures_always_ring() -> None:
    for status in RunStatus:
        if status.shape is Shape.RING:
            assert not status.may_count
        if status.failed:
            assert status.rings == "yes"
        assert status.live + (status is RunStatus.QUEUED) + status.final == 1


def test_a_quiet_check_speaks_of_a_model_only_where_there_is_one() -> None:
    said = sentence_of("nothing_to_do", RunFacts()).rest
    assert said == "The check found nothing, so no model was called."
    script = sentence_of("nothing_to_do", RunFacts(script=True)).rest
    assert script == "The check found nothing, so it didn’t go on."


def test_the_next_in_line_is_place_one() -> None:
    line = [sentence_of("queued", RunFacts(machine="quay-1", place=n)).rest for n in (1, 2)]
    assert line == ["Next in line for quay-1.", "Second in line for quay-1."]
