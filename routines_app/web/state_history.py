"""What each run, and each person between two runs, did to a routine's state.md."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

from machines.models import Machine
from machines.routine_folder import state_file_of
from routines_app.models import HandChange, Routine, Run
from routines_app.rules.line_diff import DiffLine, first_new_line, lines_changed, memory_diff
from routines_app.rules.status import RunStatus, Shape
from routines_app.web.templatetags.words import counted

SHOWN = 12
LINE = 200  # characters


@dataclass(frozen=True)
class Edition:
    """One change of the file, in lines: by a run, or by hand between the run before and `run`.

    `since`: by hand after `run`, which no run has read yet.
    """

    run: Run
    before: str
    after: str
    by_hand: bool = False
    since: bool = False
    people: tuple[str, ...] = ()  # who did it by hand, as far as that is known
    restores: ClassVar = True
    whose: ClassVar = ""  # the path says which routine it was
    words: ClassVar = "Nothing. It read the file and left it as it was."

    @property
    def name(self) -> str:
        """What an address calls it."""
        kind = "since-" if self.since else "before-" if self.by_hand else ""
        return f"{kind}{self.run.number}"

    @cached_property
    def _changed(self) -> tuple[int, int]:
        return lines_changed(self.before, self.after)

    @property
    def added(self) -> int:
        """How many lines came."""
        return self._changed[0]

    @property
    def taken(self) -> int:
        """How many lines went."""
        return self._changed[1]

    @property
    def figure(self) -> str:
        """How many lines came and went, in few characters."""
        parts = [f"+{self.added}"] if self.added else []
        parts += [f"−{self.taken}"] if self.taken else []
        return " ".join(parts) or "no change"

    @property
    def lines(self) -> list[DiffLine]:
        """What changed, with a little of what surrounds it."""
        return memory_diff(self.before, self.after)

    @property
    def came(self) -> str:
        """The first line that came, "" when none did."""
        return first_new_line(self.before, self.after)[:LINE]

    @property
    def by_whom(self) -> str:
        """Who did it by hand: "by Ada", "by Ada and two others"; "" when that isn't known."""
        if not self.people:
            return ""
        others = len(self.people) - 1
        more = f" and {counted(others, 'other')}" if others else ""
        return f"by {self.people[0]}{more}"

    @property
    def failed_first(self) -> bool:
        """Whether the run failed before it wrote anything."""
        unchanged = self.before == self.after
        return unchanged and not self.by_hand and RunStatus(self.run.status).shape is Shape.POINT


def history_of(machine: Machine, path: str, text: str | None) -> list[Edition] | None:
    """The last runs that read this file, newest first, with what changed by hand between two of
    them and, if `text` is what it says now, since the last; None for any file but a state.md."""
    parts = path.split("/")
    if len(parts) != 3 or f"~/{path}" != state_file_of(parts[1]):
        return None
    runs = list(
        Run.objects.select_related("routine")
        .filter(
            machine=machine,
            workspace=machine.workspace,
            routine__slug=parts[1],
            effects_begun_at__isnull=False,
            finished_at__isnull=False,
        )
        .order_by("-number")[: SHOWN + 1]
    )
    hands = _hands_on(machine, path, runs[-1].finished_at) if runs else []
    found: list[Edition] = []
    if runs and text is not None:
        by_now = Edition(
            runs[0],
            runs[0].state_after,
            text,
            by_hand=True,
            since=True,
            people=_people(hands, runs[0].finished_at, None),
        )
        if by_now.added or by_now.taken:
            found.append(by_now)
    for run, earlier in pairwise([*runs, None]):
        if run is None or len(found) >= 2 * SHOWN or (earlier is None and len(runs) > SHOWN):
            break
        found.append(Edition(run, run.state_before, run.state_after))
        if earlier is not None and earlier.state_after != run.state_before:
            found.append(
                Edition(
                    run,
                    earlier.state_after,
                    run.state_before,
                    by_hand=True,
                    people=_people(hands, earlier.finished_at, run.effects_begun_at),
                )
            )
    return found


def _hands_on(machine: Machine, path: str, since: datetime | None) -> list[HandChange]:
    """Who changed this file by hand, or deleted a folder that it was in, the oldest first."""
    parts = path.split("/")
    places = ["/".join(parts[:length]) for length in range(1, len(parts) + 1)]
    changes = HandChange.objects.filter(machine=machine, path__in=places, at__gte=since)
    return list(changes.select_related("person").order_by("at", "pk"))


def _people(
    hands: list[HandChange], after: datetime | None, before: datetime | None
) -> tuple[str, ...]:
    """The people who did it in this stretch, each once."""
    within = (
        str(hand.person)
        for hand in hands
        if hand.person and after and hand.at >= after and (before is None or hand.at <= before)
    )
    return tuple(dict.fromkeys(within))


def writer_of(history: list[Edition] | None, text: str) -> Run | None:
    """The run that wrote the text as it stands; None when that was somebody by hand, or earlier."""
    for edition in history or []:
        if edition.after != text:
            return None
        if edition.before != edition.after:
            return None if edition.by_hand else edition.run
    return None


def next_reader(machine: Machine, path: str) -> Routine | None:
    """The routine whose next run reads this state.md; None while nothing is due."""
    return Routine.objects.filter(
        machine=machine,
        workspace_id=machine.workspace_id,
        slug=path.split("/")[1],
        enabled=True,
        deleted_at__isnull=True,
        next_fire_at__isnull=False,
    ).first()
