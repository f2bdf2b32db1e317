"""Six weeks of a workspace, told to the product's own functions in the order of their time."""

import heapq
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from accounts.models import User, Workspace
from foundation import database_clock
from machines.models import Machine
from routines_app.configure.content import Refused, RoutineContent, content_of
from routines_app.configure.delete import delete_routine
from routines_app.configure.pause import pause_workspace, resume_workspace
from routines_app.configure.routine import (
    Configured,
    configure_routine,
    create_routine,
    turn_off,
    turn_on,
)
from routines_app.fires import FireRequest, request_fires
from routines_app.fires.missed import Missed, record_missed
from routines_app.management.demo import cast
from routines_app.management.demo.at_work import WORKER, begins, deliver_now, must, play
from routines_app.management.demo.cast import Part
from routines_app.management.demo.hand import Hand
from routines_app.management.demo.outcomes import Act, Outcome, special, usual
from routines_app.management.demo.play import course_of
from routines_app.management.demo.played import Played, Quiet
from routines_app.management.demo.quiet import is_quiet, write_quiet_runs
from routines_app.management.demo.transcript import Work, at_length
from routines_app.models import Agent, Routine, Run, Step
from routines_app.producers.manual import run_it_now
from routines_app.rules.grace import MissedRange
from routines_app.rules.kinds import Schedule, ScheduleKind
from routines_app.rules.occurrence import occurrence_key
from routines_app.rules.schedule import instants_between, next_occurrence
from routines_app.rules.status import RunStatus

SEED = 1833


class Story:
    """The workspace's weeks up to `now`. `guest` is who signs in, `colleague` the other person."""

    def __init__(
        self, workspace: Workspace, guest: User, colleague: User, hand: Hand, now: datetime
    ) -> None:
        self.workspace = workspace
        self.guest = guest
        self.colleague = colleague
        self.hand = hand
        self.now = now
        self.zone = ZoneInfo(workspace.zone)
        self.machines = {m.slug: m for m in Machine.objects.filter(workspace=workspace)}
        self.agents = {a.name: a for a in Agent.objects.filter(workspace=workspace)}
        self.played: dict[str, Played] = {}
        self.steps: list[Step] = []
        self.free: dict[int, datetime] = {}
        self._coming: list[tuple[datetime, int, Callable[[], None]]] = []
        self._order = count()
        self._outage = (self.at(9, 1, 0), self.at(9, 6, 40))

    # when

    def at(self, days: int, hour: int, minute: int) -> datetime:
        """That wall time, so many days ago."""
        day = self.now.astimezone(self.zone) - timedelta(days=days)
        wall = day.replace(hour=hour, minute=minute, second=0, microsecond=0)
        return wall.astimezone(UTC)

    def plan(self, when: datetime, what: Callable[[], None]) -> None:
        """Let something happen at an instant; nothing happens after now."""
        if when < self.now:
            heapq.heappush(self._coming, (when, next(self._order), what))

    def tell(self) -> None:
        """Let everything happen that is planned, in order."""
        while self._coming:
            when, _, what = heapq.heappop(self._coming)
            self.hand.to(when)
            what()
        for played in self.played.values():
            self.write_quiet(played)

    # what

    def begin(self, part: Part) -> None:
        """Plan a routine: that it is made, edited and asked for."""
        born = self.now - timedelta(days=part.days) - timedelta(minutes=30 + len(part.name))
        self.plan(born, lambda: self._make(part, born))

    def _make(self, part: Part, born: datetime) -> None:
        values: dict[str, Any] = dict(part.earlier or part.values)
        if part.kind is ScheduleKind.ONCE:
            values = {"at": self.at(12, 7, 30).isoformat()}
        content = RoutineContent(
            name=part.name,
            instructions=part.instructions,
            agent_id=self.agents[part.agent].pk,
            machine_id=self.machines[part.machine].pk,
            schedule=Schedule(part.kind, values, self.workspace.zone),
            folder=part.folder,
            check_command=part.check,
            cap=part.cap,
            notify=part.notify,
            conversation=part.conversation,
        )
        person = self.person(part.by_guest)
        made = create_routine(self.workspace, person, content, turn_on=part.on)
        assert isinstance(made, Routine), made
        played = Played(part, made, Random(f"{SEED} {part.name}"))
        self.played[part.name] = played
        for edit in part.edits:
            when = self.at(int(edit.days), 14, 20) + timedelta(days=int(edit.days) - edit.days)
            act = Act("edit", 0, edit.guest, edit.changes)
            self.plan(when, lambda act=act: self.act(played, act))  # type: ignore[misc]
        if part.on:
            self._plan_occurrences(played, born, values)

    def _plan_occurrences(self, played: Played, born: datetime, values: dict[str, Any]) -> None:
        part = played.part
        end = self.now - timedelta(seconds=5)
        changed = end
        if part.earlier is not None:
            changed = self.now - timedelta(days=part.earlier_days)
        first = _instants(Schedule(part.kind, values, self.workspace.zone), born, changed)
        later = (
            _instants(Schedule(part.kind, part.values, self.workspace.zone), first[-1], end)
            if part.earlier is not None
            else []
        )
        played.due = first + later
        for place, due in enumerate(played.due):
            back = len(played.due) - 1 - place
            if part.earlier is not None and place == len(first) - 1:
                self.plan(due, lambda due=due: self._changed_meanwhile(played, due))  # type: ignore[misc]
                continue
            self.plan(due, lambda due=due, back=back: self._due(played, due, back))  # type: ignore[misc]

    def person(self, guest: bool) -> User:
        """The one who signs in, or their colleague."""
        return self.guest if guest else self.colleague

    def act(self, played: Played, act: Act) -> None:
        """A person does something with a routine, or with the workspace."""
        self.write_quiet(played)
        routine, person = Routine.objects.get(pk=played.routine.pk), self.person(act.guest)
        match act.what:
            case "edit":
                content = replace(content_of(routine), **act.changes)
                answer = configure_routine(routine, person, routine.version, content)
                must(isinstance(answer, Configured))
            case "off":
                turn_off(routine, person)
            case "on":
                answered = turn_on(routine, person)
                must(not isinstance(answered, Refused))
            case "pause":
                pause_workspace(self.workspace, person)
            case "resume":
                resume_workspace(self.workspace, person)
            case "delete":
                delete_routine(routine, person)
            case _:
                raise AssertionError(act.what)

    # an occurrence

    def _due(self, played: Played, due: datetime, back: int) -> None:
        started, ended = self._outage
        late = 0.0
        if started < due < ended:
            if played.part is not cast.LINKS:
                return  # told as missed, when it was over
            late = (ended - due).total_seconds()
        routine = Routine.objects.get(pk=played.routine.pk)
        work = self._work(played, due)
        outcome = special(played.part, back, work) or usual(played.part, played.rng, work, due)
        if outcome.status is RunStatus.DONE_CHANGED and not outcome.work.lines:
            outcome = replace(outcome, work=work)
        if not routine.enabled and outcome.status is not RunStatus.SKIP_AUTO_OFF:
            return
        asked = due + timedelta(seconds=late + played.rng.uniform(0.05, 0.6))
        if asked > self.now:
            return
        if is_quiet(outcome.status, routine.notify):
            began = begins(self, played, asked, outcome)
            played.quiet.append(Quiet(due, asked, began, outcome))
            self.free[played.machine_id] = course_of(outcome, began, self.now).ended
            return
        self.write_quiet(played)
        fire_id, run_id = self._ask(routine, due, asked)
        play(self, played, fire_id, run_id, asked, due, outcome)

    def _work(self, played: Played, due: datetime) -> Work:
        made = played.part.recipe(played.rng, due.astimezone(self.zone))
        return at_length(made, played.rng.uniform(0.65, 1.3))

    def _ask(self, routine: Routine, due: datetime, asked: datetime) -> tuple[int, int]:
        self.hand.to(asked)
        following = next_occurrence(routine.schedule, asked) if routine.enabled else None
        request = FireRequest(
            routine.pk, "timer", occurrence_key(due), due,
            scheduled=True, until=asked, next_at=following,
        )  # fmt: skip
        ((fire_id, run_id),) = request_fires([request], asked).items()
        return fire_id, run_id

    def write_quiet(self, played: Played) -> None:
        """Write the runs that found nothing, before anything else happens to the routine."""
        self.steps += write_quiet_runs(played, WORKER, self.now)

    def _changed_meanwhile(self, played: Played, due: datetime) -> None:
        """Its schedule is changed while it waits, so that it doesn't run."""
        self.write_quiet(played)
        routine = Routine.objects.get(pk=played.routine.pk)
        asked = due + timedelta(seconds=0.3)
        fire_id, _ = self._ask(routine, due, asked)
        self.hand.to(asked + timedelta(seconds=50))
        schedule = Schedule(played.part.kind, played.part.values, self.workspace.zone)
        self.act(played, Act("edit", 0, True, {"schedule": schedule}))
        deliver_now(self, Run.objects.get(fire_id=fire_id).pk, asked + timedelta(seconds=52))

    def asked_for(self, name: str, when: datetime, guest: bool, outcome: Outcome | None) -> None:
        """Plan that a person asks for a run; None: it ends as usual."""

        def happen() -> None:
            played = self.played[name]
            self.write_quiet(played)
            work = self._work(played, when)
            ending = outcome or replace(
                usual(replace(played.part, quiet=0), played.rng, work, when), work=work
            )
            routine = Routine.objects.get(pk=played.routine.pk)
            key = uuid.UUID(int=played.rng.getrandbits(128)).hex
            run = run_it_now(routine, self.person(guest), key)
            if ending.begins and not ending.work.lines:
                ending = replace(ending, work=Work(work.lines[:3]))
            play(self, played, run.fire_id, run.pk, when, when, ending)

        self.plan(when, happen)

    # when nothing was scanning

    def plan_outage(self, names: Sequence[str]) -> None:
        """Plan a night in which the computer was off: what fell due is told as missed."""
        started, ended = self._outage

        def over() -> None:
            missed = []
            for name in names:
                played = self.played[name]
                self.write_quiet(played)
                own = [at for at in played.due if started < at < ended]
                spans = [MissedRange(at, at, 1) for at in own]
                pk = played.routine.pk
                missed += [Missed(pk, self.workspace.pk, span) for span in spans]
            record_missed(missed, started, ended)
            for name in names:
                routine = Routine.objects.get(pk=self.played[name].routine.pk)
                routine.evaluated_until = database_clock.now()
                routine.next_fire_at = next_occurrence(routine.schedule, routine.evaluated_until)
                routine.save(update_fields=["evaluated_until", "next_fire_at"])

        self.plan(ended, over)


def _instants(schedule: Schedule, after: datetime, end: datetime) -> list[datetime]:
    if schedule.kind is ScheduleKind.WHEN_ASKED:
        return []
    low = after.replace(microsecond=0) + timedelta(seconds=1)
    found = instants_between(schedule, low, end.replace(microsecond=0))
    return [datetime.fromtimestamp(at, UTC) for at in sorted(found)]
