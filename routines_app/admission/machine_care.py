"""What the clock does for machines: sleep when idle, cold storage when unused, and back."""

import hashlib
import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import structlog
from django.conf import settings
from django.db import transaction

from billing.models import Account
from billing.plans import plan_of
from foundation import database_clock
from machines.access import provider_for, provider_named
from machines.lifecycle import STUCK_AFTER, MachineState, after_a_crash, may_archive, may_suspend
from machines.models import Machine
from machines.providers.base import MachineError, Manifest, NotFound, Provider, Ref, Spec
from routines_app.admission.machine_door import is_since, move_machine, put_to_sleep
from routines_app.fires.beats import beat
from routines_app.models import Routine, Run

log = structlog.get_logger()

UNUSED = "Unused for 30 days."


class NotRestored(Exception):
    """The machine stays in cold storage; the text says why, and the copy there is untouched."""


def care_for_machines() -> None:
    """One round: what got stuck goes back, idle machines sleep, unused ones go to cold storage."""
    now = database_clock.now()
    for machine in Machine.objects.filter(deleted_at__isnull=True).exclude(
        state=MachineState.ARCHIVED
    ):
        try:
            _unstick(machine, now)
            if _idle(machine, now):
                put_to_sleep(machine, "It was idle.", lambda row: _idle(row, now))
            elif _unused(machine, now):
                archive_machine(machine)
        except (MachineError, OSError) as error:
            log.warning("machine_care_failed", machine=machine.slug, reason=str(error))
    beat("machines", database_clock.now())


def busy(machine: Machine) -> bool:
    """Whether a run holds it: claimed and not over."""
    return Run.objects.filter(
        machine=machine, fire__closed_at__isnull=True, fire__claim_token__isnull=False
    ).exists()


def archive_machine(machine: Machine) -> bool:
    """Store its disk, verify what was stored, then free the disk; False when it may not be.

    Raises MachineError or OSError when storing fails: then it stays asleep with its disk.
    """
    now = database_clock.now()
    with transaction.atomic():
        row = Machine.objects.select_for_update().get(pk=machine.pk)
        if not _unused(row, now):
            return False
        move_machine(row, MachineState.ARCHIVING, UNUSED)
    began = row.state_since
    provider, ref = provider_for(row)
    try:
        draft, manifest = _store(row, provider, ref)
    except (MachineError, OSError):
        _back(machine.pk, MachineState.ARCHIVING, MachineState.ASLEEP, since=began)
        raise
    with transaction.atomic():
        row = Machine.objects.select_for_update().get(pk=machine.pk)
        ours = is_since(row, MachineState.ARCHIVING, began)
        if not ours or _routines_on(row):
            draft.unlink(missing_ok=True)
            if ours:
                move_machine(row, MachineState.ASLEEP, "A routine was turned on.")
            return False
        draft.replace(stored_at(row))
        row.archive = {
            "sha256": manifest.sha256,
            "size": manifest.size,
            "since": database_clock.now().isoformat(),
        }
        row.save(update_fields=["archive"])
    _free_its_disk(row)
    return True


def _free_its_disk(row: Machine) -> None:
    """The last part of archiving, once `archive` says that its copy is stored and verified.

    Only then is it in cold storage: a restore that began earlier would lose its disk again. A
    routine that was turned on meanwhile has it back at once.
    """
    provider, ref = provider_for(row)
    with suppress(NotFound):
        provider.destroy(ref)
    with transaction.atomic():
        held = Machine.objects.select_for_update().get(pk=row.pk)
        if held.state != MachineState.ARCHIVING:
            return  # somebody else has freed it, and it may have been restored since
        move_machine(held, MachineState.ARCHIVED, UNUSED)
    if _routines_on(held) and begin_restore(held, "a routine that was turned on"):
        restore_machine(held)


def begin_restore(machine: Machine, why: str) -> bool:
    """Say that it is being restored; False when it isn't in cold storage (or somebody did)."""
    with transaction.atomic():
        row = Machine.objects.select_for_update().get(pk=machine.pk)
        if row.state != MachineState.ARCHIVED or row.deleted_at is not None:
            return False
        move_machine(row, MachineState.RESTORING, why)
    return True


def put_off_restore(machine: Machine, why: str) -> None:
    """Nobody could be told to restore it: it is in cold storage as before, and says why."""
    _back(machine.pk, MachineState.RESTORING, MachineState.ARCHIVED, why)


def restore_machine(machine: Machine) -> None:
    """Bring its disk back from storage, all of it or nothing; it is asleep afterwards.

    Raises NotRestored.
    """
    row = Machine.objects.get(pk=machine.pk)
    if row.state != MachineState.RESTORING:
        return
    began = row.state_since
    manifest = Manifest(str(row.archive["sha256"]), int(row.archive["size"]))
    provider = provider_named(row.provider)
    try:
        ref = provider.create(str(row.key), Spec(**row.spec))
        with stored_at(row).open("rb") as source:
            provider.restore(ref, source, manifest)
    except (MachineError, OSError) as error:
        # a system's own words may hold paths of this host; they belong in the log
        known = isinstance(error, MachineError)
        why = str(error) if known else "What is stored couldn’t be read."
        _back(machine.pk, MachineState.RESTORING, MachineState.ARCHIVED, why, since=began)
        raise NotRestored(f"It stays in cold storage, untouched: {error}") from error
    with transaction.atomic():
        row = Machine.objects.select_for_update().get(pk=machine.pk)
        if not is_since(row, MachineState.RESTORING, began):
            raise NotRestored("It took so long that it had been given up. Ask for it again.")
        row.archive, row.used_at, row.ref = {}, database_clock.now(), ref.machine_id
        row.save(update_fields=["archive", "used_at", "ref"])
        move_machine(row, MachineState.ASLEEP, "Back from cold storage.")
    stored_at(row).unlink(missing_ok=True)


def stored_at(machine: Machine) -> Path:
    """Where its archive is kept."""
    return Path(settings.MEDIA_ROOT) / "machines" / f"{machine.key}.tar"


def _store(row: Machine, provider: Provider, ref: Ref) -> tuple[Path, Manifest]:
    """Its disk in a file of this attempt's own, verified; another attempt's is given up by it."""
    target = stored_at(row)
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    for left in target.parent.glob(f"{row.key}.*.part"):
        left.unlink(missing_ok=True)
    draft = target.with_suffix(f".{os.urandom(4).hex()}.part")
    with draft.open("xb") as sink:
        manifest = provider.archive(ref, sink)
        sink.flush()
        os.fsync(sink.fileno())
    with draft.open("rb") as stored:
        found = _sha256(stored)
    if (found, draft.stat().st_size) != (manifest.sha256, manifest.size):
        draft.unlink()
        raise OSError("What was stored differs from the disk. Nothing was freed.")
    return draft, manifest


def _sha256(stream: BinaryIO) -> str:
    digest = hashlib.sha256()
    while piece := stream.read(1024 * 1024):
        digest.update(piece)
    return digest.hexdigest()


def _idle(machine: Machine, now: datetime) -> bool:
    account = Account.objects.filter(workspace_id=machine.workspace_id).first()
    idle = plan_of(account.plan if account else "self-hosted").idle
    state = MachineState(machine.state)
    return may_suspend(state, machine.used_at, now, idle, busy=busy(machine))


def _unused(machine: Machine, now: datetime) -> bool:
    state = MachineState(machine.state)
    on = _routines_on(machine)
    return may_archive(state, machine.used_at, machine.created_at, now, routines_on=on)


def _routines_on(machine: Machine) -> int:
    return Routine.objects.filter(machine=machine, enabled=True, deleted_at__isnull=True).count()


def settle_after_start() -> None:
    """Bring back what was on its way when the only process died, however short ago that was."""
    long_after = database_clock.now() + STUCK_AFTER
    for machine in Machine.objects.filter(deleted_at__isnull=True):
        _unstick(machine, long_after)


def _unstick(machine: Machine, now: datetime) -> None:
    back = after_a_crash(MachineState(machine.state), machine.state_since, now)
    if back is None or busy(machine):
        return
    if machine.state == MachineState.ARCHIVING and machine.archive:
        _free_its_disk(machine)
    else:
        _back(machine.pk, MachineState(machine.state), back)
    machine.refresh_from_db()


def _back(
    machine_id: int,
    expected: MachineState,
    back: MachineState,
    why: str = "It was interrupted on its way.",
    *,
    since: datetime | None = None,
) -> None:
    with transaction.atomic():
        row = Machine.objects.select_for_update().get(pk=machine_id)
        if is_since(row, expected, since or row.state_since):
            move_machine(row, back, why)
