"""`manage.py seed_demo`: what it leaves alone, what it replaces, how one signs in."""

import os
import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client, override_settings

from accounts.models import Membership, Role, User, Workspace
from foundation.embedded import claim_folder
from routines_app.models import Routine
from tests.factories import make_person, make_workspace

pytestmark = pytest.mark.django_db


def seed(**options: object) -> str:
    said = StringIO()
    call_command("seed_demo", stdout=said, **options)
    return said.getvalue()


@pytest.mark.parametrize("again", [False, True])
def test_a_workspace_that_it_didnt_make_is_left_alone(again: bool) -> None:
    theirs = make_workspace(name="Ours since long", slug="demo")
    with pytest.raises(CommandError, match="didn't make"):
        seed(again=again)
    theirs.refresh_from_db()
    assert theirs.name == "Ours since long"
    assert not User.objects.filter(email__endswith="@demo.example").exists()


def test_the_guest_signs_in_with_the_password_that_it_prints(client: Client) -> None:
    found = re.search(r"Sign in as (\S+) with the password (\S+)", seed(empty=True))
    assert found is not None
    assert client.login(email=found[1], password=found[2])
    answer = client.get("/w/demo-empty/routines/")
    assert answer.status_code == 200
    assert "What should already be" in answer.content.decode()
    assert not Routine.objects.exists()


def test_it_prints_the_address_of_the_routines_that_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SITE_URL", raising=False)
    claim = claim_folder(tmp_path, "http://localhost:8765")
    with override_settings(VAR=tmp_path, EMBEDDED=True, SITE_URL="http://localhost:8000"):
        assert "is there: http://localhost:8765/w/demo-empty/routines/" in seed(empty=True)
        assert "http://localhost:8765/w/demo-empty/routines/  (--again" in seed(empty=True)
        monkeypatch.setenv("SITE_URL", "http://localhost:8000")
        assert "http://localhost:8000/w/demo-empty/routines/" in seed(empty=True)
    os.close(claim)


def test_it_is_replaced_only_when_that_is_asked_for() -> None:
    seed(empty=True)
    first = Workspace.objects.get(slug="demo-empty")
    assert "Nothing was changed" in seed(empty=True)
    assert Workspace.objects.get(slug="demo-empty").pk == first.pk
    seed(empty=True, again=True)
    assert Workspace.objects.get(slug="demo-empty").pk != first.pk


def test_somebody_who_is_here_can_own_it_and_keeps_their_password(client: Client) -> None:
    ada = make_person(email="ada@example.org")
    assert "as always" in seed(empty=True, owner="ada@example.org")
    assert Membership.objects.get(workspace__slug="demo-empty", user=ada).role == Role.OWNER
    assert client.login(email=ada.email, password="correct horse")
    with pytest.raises(CommandError, match="Nobody here has the email"):
        seed(empty=True, again=True, owner="nobody@example.org")
