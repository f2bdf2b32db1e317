"""The machines of the demo's story: when they were awake, what is on them, and cold storage."""

from datetime import datetime, timedelta

from machines.access import provider_for
from machines.lifecycle import MachineState
from machines.models import AwakeSpan, Machine
from machines.routine_folder import ensure_folder, folder_of, state_file_of
from routines_app.admission.machine_care import archive_machine
from routines_app.management.demo.at_work import Untold
from routines_app.management.demo.cast import ATTIC, DESK
from routines_app.management.demo.story import Story
from routines_app.models import Run

IDLE = timedelta(minutes=10)
LARGE = 1_000_000  # bytes; larger files are told of, not made

FILES = {
    "~/inbox/readme.md": "Put new.csv here. The desk’s routine files it twice an hour.\n",
    "~/tools/find.py": "import csv, sys\n\nprint(*csv.reader(open(sys.argv[1])), sep='\\n')\n",
    "~/opening-hours.csv": "day,from,to\nSaturday,10:00,16:00\nSunday,10:00,16:00\n",
}


def furnish_disks(story: Story) -> None:
    """Make the machines at their provider, with each routine's folder and state.md.

    Raises MachineError.
    """
    for played in story.played.values():
        machine = story.machines[played.part.machine]
        provider, ref = provider_for(machine)
        ensure_folder(provider, ref, played.routine.slug)
        if played.memory:
            provider.write_file(ref, state_file_of(played.routine.slug), played.memory.encode())
        for path, content in played.folder.items():
            data = bytes(content) if isinstance(content, int) else content.encode()
            if len(data) < LARGE:
                provider.write_file(ref, f"{folder_of(played.routine.slug)}/{path}", data)
    provider, ref = provider_for(story.machines[DESK])
    for path, text in FILES.items():
        provider.write_file(ref, path, text.encode())


def put_into_cold_storage(story: Story) -> None:
    """The attic's machine, which nothing has used for thirty days: by the product's own round.

    Call it at the instant at which that happens. Raises MachineError or OSError.
    """
    machine = story.machines[ATTIC]
    worked = Run.objects.filter(machine=machine, waking_at__isnull=False)
    last = worked.order_by("-finished_at").first()
    assert last is not None
    Machine.objects.filter(pk=machine.pk).update(used_at=last.finished_at)
    machine.refresh_from_db()
    if not archive_machine(machine):
        raise Untold(f"{machine} was used too lately to be put away.")


def note_wakings(story: Story) -> None:
    """Write when each machine was awake, from the runs that it did, and how it is now."""
    for machine in story.machines.values():
        machine.refresh_from_db()
        spans = _spans(machine, story.now)
        AwakeSpan.objects.bulk_create(spans)
        if not spans or machine.state == MachineState.ARCHIVED:
            continue
        last = spans[-1]
        machine.used_at = _last_use(machine, story.now)
        if last.ended_at is None:
            machine.state, machine.state_reason = MachineState.AWAKE, last.woken_by
            machine.state_since = last.started_at
            provider, ref = provider_for(machine)
            provider.wake(ref)
        else:
            machine.state, machine.state_reason = MachineState.ASLEEP, "It was idle."
            machine.state_since = last.ended_at
        machine.save(update_fields=["used_at", "state", "state_reason", "state_since"])


def _last_use(machine: Machine, now: datetime) -> datetime:
    last = Run.objects.filter(machine=machine, waking_at__isnull=False).order_by("-waking_at")[0]
    return last.finished_at or now


def _spans(machine: Machine, now: datetime) -> list[AwakeSpan]:
    """From the first run that woke it until ten minutes after the last one that found it awake."""
    runs = Run.objects.filter(machine=machine, waking_at__isnull=False).order_by("waking_at")
    spans: list[AwakeSpan] = []
    for began, ended, name in runs.values_list("waking_at", "finished_at", "routine__name"):
        assert began is not None
        until = (ended or now) + IDLE
        if spans and began <= (spans[-1].ended_at or now):
            spans[-1].ended_at = max(spans[-1].ended_at or until, until)
        else:
            spans.append(
                AwakeSpan(machine=machine, started_at=began, ended_at=until, woken_by=name)
            )
    if spans and spans[-1].ended_at is not None and spans[-1].ended_at > now:
        spans[-1].ended_at = None
    return spans
