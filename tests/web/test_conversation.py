"""What pages say of a conversation that is kept, and starting it anew."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import Role, Workspace
from routines_app.models import Conversation, ConversationTurn, Routine
from routines_app.rules.status import RunStatus
from tests.factories import make_member, make_person, make_routine, make_run, make_workspace

PAGE = "/w/harbour/routines/brief/"
ANEW = f"{PAGE}anew/"


@pytest.fixture
def routine(harbour: Workspace) -> Routine:
    """A continued routine whose conversation holds three runs."""
    made = make_routine(harbour, name="Brief", slug="brief", conversation="continued")
    kept = Conversation.objects.create(routine=made)
    for number in range(3):
        run = make_run(made)
        ConversationTurn.objects.create(
            conversation=kept, run=run, number=run.number, talk="{}", size=11_060,
            reread=number * 20_000,
        )  # fmt: skip
    return made


def text_of(client: Client, path: str) -> str:
    return " ".join(client.get(path).content.decode().split())


def test_the_page_says_its_size_and_what_it_adds(
    browser_of_owner: Client, routine: Routine
) -> None:
    page = text_of(browser_of_owner, PAGE)
    assert "3 runs, about 8,300 tokens." in page
    assert "Reading them again adds about $0.02 to a run." in page
    assert "above 20 runs or about 25,000 tokens" in page
    assert f'action="{ANEW}"' in page
    form = text_of(browser_of_owner, f"{PAGE}edit/")
    assert "It has 3 runs, about 8,300 tokens now, which adds about $0.02 to a run." in form


def test_a_routine_that_starts_fresh_says_nothing_of_it(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    make_routine(harbour, name="Brief", slug="brief")
    assert "Its conversation" not in text_of(browser_of_owner, PAGE)


def test_started_anew_it_is_empty_and_says_by_whom(
    browser_of_owner: Client, routine: Routine, harbour: Workspace
) -> None:
    answer = browser_of_owner.post(ANEW, follow=True)
    page = " ".join(answer.content.decode().split())
    assert "Brief starts its conversation anew. It forgot 3 runs; state.md stays." in page
    assert "Started anew by Ada Byron" in page
    assert f'action="{ANEW}"' not in page  # nothing is left to forget
    assert not ConversationTurn.objects.exists()
    assert routine.runs.count() == 3
    browser_of_owner.post(ANEW)
    assert Conversation.objects.get().edition == 2


@pytest.mark.parametrize("role", [Role.VIEWER, Role.MEMBER])
def test_who_may_not_edit_may_not_start_it_anew(
    client: Client, routine: Routine, harbour: Workspace, role: Role
) -> None:
    client.force_login(make_member(harbour, role))
    assert f'action="{ANEW}"' not in text_of(client, PAGE)
    assert client.post(ANEW).status_code == 403
    assert ConversationTurn.objects.count() == 3


def test_a_stranger_finds_nothing_to_start_anew(client: Client, routine: Routine) -> None:
    stranger = make_person()
    theirs = make_workspace(stranger, slug="theirs")
    client.force_login(stranger)
    assert client.post(ANEW).status_code == 404
    assert client.post("/w/theirs/routines/brief/anew/").status_code == 404
    assert theirs.routines.count() == 0
    assert ConversationTurn.objects.count() == 3


def test_it_is_only_posted_to(browser_of_owner: Client, routine: Routine) -> None:
    assert browser_of_owner.get(ANEW).status_code == 405
    assert ConversationTurn.objects.count() == 3


@pytest.mark.parametrize(
    ("snapshot", "words"),
    [
        ({"conversation": "fresh"}, "Fresh"),
        ({"conversation": "continued"}, "Continued"),
        (
            {"conversation": "continued", "talk": {"runs": 12, "size": 32_000, "left_out": 0}},
            "Continued, 12 runs, about 8,000 tokens",
        ),
        (
            {"conversation": "continued", "talk": {"runs": 0, "size": 0, "left_out": 0}},
            "Continued, from here on",
        ),
        (
            {"conversation": "continued", "talk": {"runs": 0, "size": 0, "anew_by": "<Ada>"}},
            "Continued, started anew by &lt;Ada&gt;",
        ),
    ],
)
def test_a_run_says_what_it_went_on_from(
    browser_of_owner: Client, routine: Routine, snapshot: dict[str, Any], words: str
) -> None:
    run = make_run(routine, RunStatus.DONE_CHANGED, snapshot={"cap": 1, **snapshot})
    page = text_of(browser_of_owner, f"{PAGE}runs/{run.number}/")
    assert f"<dd>{words}</dd>" in page
