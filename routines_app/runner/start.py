"""What a runner looks at before it starts."""

from django.conf import settings

from machines.providers.local_limits import keeps_control_groups


def refusal_to_start() -> str | None:
    """Why no runner may start here, in words that say what to do; None: it may.

    Other people's machines on one host need control groups: without them their memory is watched,
    and who knows how can hold memory that the watch doesn't see.
    """
    if settings.MACHINE_PROVIDER != "local" or settings.LOCAL_MACHINES_WITHOUT_CGROUPS:
        return None
    if keeps_control_groups():
        return None
    return (
        "This runner can't bound its machines' memory: it may make no control groups "
        "(cgroup version 2) here. Start it as root on a host that has them. Only where you trust "
        "everyone who uses it, set LOCAL_MACHINES_WITHOUT_CGROUPS=yes."
    )
