"""What a run wrote into the ledger."""

from dataclasses import dataclass

from billing.models import LedgerEntry
from routines_app.models import Run
from routines_app.rules.money import dollars
from routines_app.rules.status import RunStatus


@dataclass(frozen=True)
class Entry:
    """One line of the ledger: what it was, and the amount with its sign."""

    words: str
    amount: str


def ledger_of(run: Run) -> list[Entry]:
    """The ledger's entries of this run, in the order in which they were written."""
    entries = LedgerEntry.objects.filter(workspace_id=run.workspace_id, run_key=run.key)
    return [Entry(_words(each, run), _signed(each.amount)) for each in entries.order_by("pk")]


def _words(entry: LedgerEntry, run: Run) -> str:
    match entry.kind:
        case "run":
            return f"Model, run {run.number:,}"
        case "refund":
            broken_off = run.status == RunStatus.FAIL_RESTART
            return "Refund, interrupted by us" if broken_off else "Refund, our fault"
        case "machine":
            return "Machine time"
        case _:
            return entry.note


def _signed(amount: int) -> str:
    return dollars(amount) if amount < 0 else f"+{dollars(amount)}"
