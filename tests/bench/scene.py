"""A workspace with routines, as the measurements of the queue and of the pages need it."""

from django.db.models import F

from accounts.models import Workspace
from machines.models import Machine
from routines_app.models import Routine, RoutineTotals
from tests.bench.rows import multiply, settle
from tests.factories import make_machine, make_routine, make_workspace

_SPREAD = "now() + interval '30 minutes' + interval '23 hours' * (g::float / {count})"


def spread_routines(count: int) -> Workspace:
    """`count` routines, nine in ten on, each daily at a minute of its own in the next day."""
    workspace = make_workspace()
    first = make_routine(workspace, next_fire_at=None, enabled=False)
    multiply(
        first,
        count - 1,
        {
            "key": "gen_random_uuid()",
            "name": "'Morning brief ' || g",
            "slug": "'brief-' || g",
            "enabled": "g % 10 <> 0",
            "expressions": "ARRAY[(g % 60) || ' ' || (g % 24) || ' * * *']",
            "next_fire_at": _SPREAD.format(count=count),
        },
    )
    settle("routines_app_routine")
    return workspace


def machine_each(count: int, check: str = "") -> list[Routine]:
    """`count` routines, each with an awake machine of its own in memory, in 20 workspaces."""
    for place in range(20):
        workspace = make_workspace()
        machine = make_machine(workspace, state="awake", ref="first")
        routine = make_routine(
            workspace, machine=machine, check_command=check, enabled=False, next_fire_at=None
        )
        each = -(-count // 20)
        base = (place + 1) * 1_000_000
        named = {"key": "gen_random_uuid()", "slug": "'copy-' || g", "name": "'Copy ' || g"}
        multiply(machine, each, {**named, "ref": f"'{place}-' || g"}, first=base)
        multiply(routine, each, {**named, "machine_id": f"{base} + g", "enabled": "true"})
        routine.delete()
    made = list(Routine.objects.filter(enabled=True).order_by("id")[:count])
    RoutineTotals.objects.bulk_create(RoutineTotals(routine=routine) for routine in made)
    Machine.objects.filter(ref="first").update(deleted_at=F("created_at"))
    settle("routines_app_routine", "machines_machine", "routines_app_routinetotals")
    return made
