"""Whether a fire may become a run. Facts in, one decision out."""

from dataclasses import dataclass, field

from routines_app.rules.status import RunStatus


@dataclass(frozen=True)
class AdmissionFacts:
    """What the door knows of one fire. Names are ready to be printed.

    `by_person`: somebody asked for this very run, so a routine that is off still runs.
    `schedule_changed`: the schedule that asked for it has been changed since.
    `machine`: its name, None when the routine has none; `machine_gone`: deleted.
    `no_model`: why its agent has no model to use, empty when it has one or needs none.
    """

    by_person: bool
    enabled: bool
    off_reason: str
    off_by: str
    workspace_paused: bool
    paused_by: str
    schedule_changed: bool
    machine: str | None
    machine_gone: bool
    agent: str
    no_model: str


@dataclass(frozen=True)
class Admitted:
    """It may run."""


@dataclass(frozen=True)
class Refused:
    """It doesn't run: the status of its row, and what the row's sentence needs."""

    status: RunStatus
    facts: dict[str, object] = field(default_factory=dict)


def decide(facts: AdmissionFacts) -> Admitted | Refused:
    """The first reason against it, in the order in which a person would want to know."""
    if facts.workspace_paused:
        return Refused(RunStatus.SKIP_PAUSED, {"person": facts.paused_by})
    if not facts.enabled and not facts.by_person:
        if facts.off_reason == "failures":
            return Refused(RunStatus.SKIP_AUTO_OFF)
        return Refused(RunStatus.SKIP_OFF, {"person": facts.off_by})
    if facts.schedule_changed:
        return Refused(RunStatus.SKIP_CHANGED)
    if facts.machine is None or facts.machine_gone:
        name = facts.machine or "Its machine"
        return Refused(RunStatus.SKIP_MACHINE_GONE, {"machine": name})
    if facts.no_model:
        return Refused(RunStatus.SKIP_NO_MODEL, {"agent": facts.agent, "reason": facts.no_model})
    return Admitted()
