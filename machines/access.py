"""From a machine's row to its provider: the one place where the two meet."""

from functools import cache

from django.conf import settings

from machines.models import Machine
from machines.providers import provider
from machines.providers.base import Provider, Ref, Spec


@cache
def provider_named(name: str) -> Provider:
    """The provider of that name, one a process, keeping its machines under MACHINES_ROOT."""
    return provider(name, settings.MACHINES_ROOT)


def provider_for(machine: Machine) -> tuple[Provider, Ref]:
    """A machine's provider and what it calls it there, made there first if it isn't yet.

    Raises MachineError when the provider can't make it.
    """
    found = provider_named(machine.provider)
    if machine.ref:
        return found, Ref(machine.provider, machine.ref)
    ref = found.create(str(machine.key), Spec(**machine.spec))
    Machine.objects.filter(pk=machine.pk).update(ref=ref.machine_id)
    machine.ref = ref.machine_id
    return found, ref
