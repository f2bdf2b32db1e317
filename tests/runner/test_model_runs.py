"""Turns with a model, from the fire to the row: real HTTP, a real sandbox, a real repository."""

import itertools
import subprocess
from pathlib import Path
from typing import Any

import pytest

from billing.models import Hold, LedgerEntry
from machines.models import Machine
from machines.providers.base import Exit, Provider, Ref
from routines_app.models import Agent, ModelKey, Routine
from tests.factories import make_routine
from tests.fakes.model_provider import Answer, FakeProvider, call, clever, finish
from tests.fakes.model_wire import Seen
from tests.runner.conftest import fire_once

pytestmark = [pytest.mark.sandbox, pytest.mark.django_db(transaction=True)]

CAPS = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
CHECK = "git fetch && git log --oneline @..@{u} | grep ."
TASK = (
    "Read the new commits (git log --oneline @..@{u}), summarise them naming each, "
    "then run git merge --ff-only."
)


def routine_for(machine: Machine, agent: Agent, **fields: Any) -> Routine:
    return make_routine(machine.workspace, machine=machine, agent=agent, **fields)


@pytest.mark.parametrize("cap", CAPS)
def test_a_run_that_would_overspend_hits_its_cap_and_keeps_beneath_it(
    machine: Machine, assistant: Agent, fake: FakeProvider, cap: int
) -> None:
    numbers = itertools.count()

    def script(seen: Seen) -> Answer:
        number = next(numbers)
        if number % 2 == 0:
            return call("run_command", command=f"seq {2000 + number}")
        talk = "And so on. " * 300
        return Answer(text=talk, calls=(("run_command", {"command": f"seq {400 + number}"}),))

    fake.script = script
    run = fire_once(routine_for(machine, assistant, cap=cap, step_limit=500), "k")
    assert run.status == "stop_cost"
    assert fake.meter.billed <= run.spent <= cap
    assert sum(run.steps.values_list("cost", flat=True)) == run.spent
    assert Hold.objects.get(run_key=run.key).freed_at
    charged = LedgerEntry.objects.filter(run_key=run.key).values_list("amount", flat=True)
    assert list(charged) == ([-run.spent] if run.spent else [])


def test_the_next_request_holds_what_state_md_says(
    machine: Machine, assistant: Agent, fake: FakeProvider, disk: tuple[Provider, Ref]
) -> None:
    fake.script = lambda seen: finish("Looked.")
    routine = routine_for(machine, assistant)
    fire_once(routine, "one")
    provider, ref = disk
    path = f"{routine.memory_folder}/state.md"
    provider.write_file(ref, path, b"the heron left on Tuesday\n")
    fire_once(routine, "two")
    assert "the heron left on Tuesday" in fake.seen[-1].text
    provider.delete(ref, path)
    run = fire_once(routine, "three")
    assert "the heron" not in fake.seen[-1].text
    assert run.state_before.startswith("# State")


def test_a_key_is_sent_and_never_stored_where_it_can_be_read(
    machine: Machine, assistant: Agent, fake: FakeProvider
) -> None:
    fake.script = lambda seen: finish("Looked.")
    run = fire_once(routine_for(machine, assistant), "k")
    assert run.status == "done_changed"
    assert "sk-canary" in str(fake.seen[0].headers)
    assert "sk-canary" not in str(list(ModelKey.objects.values())) + str(run.snapshot)


def test_without_a_model_nothing_starts_and_the_row_says_so(
    machine: Machine, assistant: Agent, fake: FakeProvider
) -> None:
    ModelKey.objects.all().delete()
    run = fire_once(routine_for(machine, assistant), "k")
    assert (run.status, run.spent, fake.seen) == ("skip_no_model", 0, [])


def test_without_a_price_nothing_starts(
    machine: Machine, assistant: Agent, fake: FakeProvider
) -> None:
    ModelKey.objects.update(own_input=None, own_output=None)
    run = fire_once(routine_for(machine, assistant), "k")
    assert (run.status, fake.seen) == ("skip_no_model", [])
    assert "price" in str(run.facts["reason"])


def test_files_are_edited_and_searched_on_the_machine(
    machine: Machine, assistant: Agent, fake: FakeProvider, disk: tuple[Provider, Ref]
) -> None:
    fake.script = [
        call("write_file", path="notes/day.md", text="Monday: three herons\nTuesday: none\n"),
        call("edit_file", path="notes/day.md", old="three", new="four"),
        call("search_files", pattern="(heron|gull)s$", names="*.md"),
        call("search_files", pattern="heron", path="~/absent"),
        call("search_files", pattern="("),
        finish("Four herons."),
    ]
    run = fire_once(routine_for(machine, assistant), "k")
    assert run.status == "done_changed"
    results = fake.seen[-1].results
    assert "Replaced at line 1." in results[1]
    assert "notes/day.md:1:Monday: four herons" in results[2]
    assert "That didn't work." in results[3]
    assert "Mend the pattern" in results[4]
    provider, ref = disk
    text = provider.read_file(ref, f"{run.snapshot['folder']}/notes/day.md", 1_000)
    assert text == b"Monday: four herons\nTuesday: none\n"
    kinds = list(run.steps.values_list("kind", flat=True))
    assert kinds[1:] == ["wrote", "edited", "searched", "searched", "searched", "finished"]


@pytest.mark.parametrize(
    ("moves", "variant"),
    [
        ([Answer()], "gave an empty answer"),
        ([Answer(text="I'm sorry, but I can't help with that.")], "refused"),
        ([call("run_command", command="ls"), finish("")], ""),
        ([call("run_command", command="ls")] * 9, "repeated itself"),
    ],
)
def test_a_run_that_did_nothing_fails_and_says_how(
    machine: Machine, assistant: Agent, fake: FakeProvider, moves: list[Answer], variant: str
) -> None:
    fake.script = moves
    routine = routine_for(machine, assistant)
    run = fire_once(routine, "k")
    assert (run.status, run.facts["variant"]) == ("fail_empty", variant)
    assert run.spent >= fake.meter.billed > 0
    routine.refresh_from_db()
    assert routine.streak == 1


@pytest.fixture
def upstream(machine: Machine, disk: tuple[Provider, Ref], tmp_path: Path) -> "Upstream":
    """A repository with history, uploaded as a bundle and cloned on the machine."""
    return Upstream(tmp_path / "work", disk)


class Upstream:
    """A repository of ours whose bundle on the machine is what the clone there fetches from."""

    def __init__(self, folder: Path, disk: tuple[Provider, Ref]) -> None:
        self.folder, self.disk = folder, disk
        self.git("init", "-q", "-b", "main", str(folder), inside=False)
        for number in range(1, 6):
            self.commit(f"Add chapter {number}")
        provider, ref = disk
        provider.wake(ref)
        command = "git clone -q ~/upstream.bundle ~/project"
        *_, ended = provider.exec(ref, "set-up", ["bash", "-c", command]).events
        assert isinstance(ended, Exit) and ended.code == 0

    def git(self, *words: str, inside: bool = True) -> None:
        where = ["-C", str(self.folder)] if inside else []
        names = ["-c", "user.name=Tests", "-c", "user.email=tests@example.org"]
        subprocess.run(["git", *where, *names, *words], check=True, capture_output=True)

    def commit(self, subject: str) -> None:
        (self.folder / "book.txt").write_text(subject)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject)
        bundle = self.folder.with_suffix(".bundle")
        self.git("bundle", "create", "-q", str(bundle), "HEAD", "main")
        provider, ref = self.disk
        provider.write_file(ref, "~/upstream.bundle", bundle.read_bytes())


def test_new_commits_are_summarised_and_a_quiet_repository_costs_nothing(
    machine: Machine, assistant: Agent, fake: FakeProvider, upstream: Upstream
) -> None:
    fake.script = clever
    routine = routine_for(
        machine, assistant, instructions=TASK, check_command=CHECK, folder="~/project"
    )
    quiet = fire_once(routine, "quiet")
    assert (quiet.status, quiet.spent, fake.seen) == ("nothing_to_do", 0, [])
    assert quiet.facts["exit_code"] == 1
    assert "printed" not in quiet.facts

    upstream.commit("Mend the broken index")
    busy = fire_once(routine, "busy")
    assert busy.status == "done_changed"
    assert busy.spent > 0
    assert "Mend the broken index" in busy.headline

    misspelt = fire_once(
        routine_for(machine, assistant, check_command="gti fetch", folder="~/project"), "bad"
    )
    assert (misspelt.status, misspelt.facts["command"]) == ("fail_check_missing", "gti")
