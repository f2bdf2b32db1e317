"""Auditing what is stored: which invariants the rows break, and whether each occurrence has a row.

`docs/audit.md` lists the invariants and their numbers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from billing.plans import PLANS
from routines_app.fires.accounting import SLACK, Account, accounts
from routines_app.fires.audit_queries import CHECKS, IDLE, STATUSES
from routines_app.models import Routine
from routines_app.rules.schedule import next_occurrence
from routines_app.rules.sentences import RunFacts, sentence_of


@dataclass(frozen=True)
class Violation:
    """Rows that break an invariant, in a sentence; `ids` are of the rows that it names."""

    invariant: str
    sentence: str
    ids: tuple[int, ...]


@dataclass(frozen=True)
class Audit:
    """What an audit found; of `expected` occurrences, `accounted` have their row."""

    violations: tuple[Violation, ...]
    accounted: int
    expected: int


def audit(
    now: datetime,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    workspace_id: int | None = None,
) -> Audit:
    """Look at all rows, or at those asked for in [since, until) or of one workspace.

    What goes on now (leases, holds, counters) is looked at whatever the time asked for.
    """
    values: dict[str, Any] = {
        "now": now,
        "since": since,
        "until": until,
        "workspace": workspace_id,
        "credit_plans": [plan.code for plan in PLANS.values() if plan.credit is not None],
    }
    found = [*_by_queries(values), *_without_a_future(values), *_without_a_sentence(values)]
    routines = Routine.objects.order_by("pk")
    if workspace_id is not None:
        routines = routines.filter(workspace_id=workspace_id)
    last = now - SLACK
    accounted = expected = 0
    for each in accounts(routines.iterator(), since, min(until, last) if until else last):
        accounted += each.accounted
        expected += each.expected
        if each.missing:
            found.append(_without_rows(each))
    order = {name: number for number, name in enumerate(sorted(NAMES, key=_number))}
    found.sort(key=lambda violation: order[violation.invariant])
    return Audit(tuple(found), accounted, expected)


NAMES = ("I1", "I2", "I3", "I4", "I5", "I6", "I7", "I9", "I10", "I11", "I12", "I16")


def _number(name: str) -> int:
    return int(name[1:])


def _by_queries(values: dict[str, Any]) -> Iterator[Violation]:
    with connection.cursor() as cursor:
        for check in CHECKS:
            cursor.execute(check.sql, values)
            for ids, *said in cursor.fetchall():
                yield Violation(check.invariant, check.sentence.format(*said), tuple(ids))


def _without_a_future(values: dict[str, Any]) -> Iterator[Violation]:
    with connection.cursor() as cursor:
        cursor.execute(IDLE, values)
        ids = [row[0] for row in cursor.fetchall()]
    for routine in Routine.objects.filter(pk__in=ids):
        due = routine.next_fire_at
        if due is not None:
            said = f"Routine {routine.pk} was due at {due:%Y-%m-%d %H:%M:%S} and isn't asked for."
        else:
            after = max(values["now"], routine.evaluated_until or values["now"])
            coming = next_occurrence(routine.schedule, after)
            if coming is None and routine.schedule_kind != "once":
                continue  # its last year is over, and the page says so
            said = f"Routine {routine.pk} is on with a schedule, and nothing will come."
        yield Violation("I9", said, (routine.pk,))


def _without_a_sentence(values: dict[str, Any]) -> Iterator[Violation]:
    with connection.cursor() as cursor:
        cursor.execute(STATUSES, values)
        kinds = cursor.fetchall()
    for status, ids in kinds:
        sentence = sentence_of(status, RunFacts())
        if not sentence.lead.strip() or sentence.lead.startswith("Ended as"):
            said = f"{len(ids)} of the rows have a status without a sentence: {status}."
            yield Violation("I16", said, tuple(ids))


def _without_rows(account: Account) -> Violation:
    first, more = account.missing[0], len(account.missing) - 1
    others = f" nor have {more:,} more" if more else ""
    said = f"Routine {account.routine_id} was due at {first:%Y-%m-%d %H:%M:%S} and has no row for it{others}."  # noqa: E501
    return Violation("I1", said, (account.routine_id,))
