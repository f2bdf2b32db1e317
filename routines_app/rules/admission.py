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
    `no_app`: an app that it requires and can't be used, empty when all can; `no_app_why` is a
    sentence, empty when the app has been removed. `barred`: who may not use it, as
    a sentence begins, empty when it isn't connected; `barred_slug` that agent's, empty for several.
    `no_app_tools`: the tools that were chosen of it, where those are barred, or gone from it.
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
    limits: "PlanFacts"
    waited: float = 0.0  # seconds past its due instant, for the first try of a scheduled fire
    grace: float | None = None  # how many of them are allowed; None when it may wait for ever
    no_app: str = ""
    no_app_why: str = ""
    barred: str = ""
    barred_slug: str = ""
    no_app_tools: str = ""


@dataclass(frozen=True)
class PlanFacts:
    """What a plan has to say to one fire. Lengths are seconds; None is without limit.

    `on`: how many routines are on, and `rank`: this one's place among them, the oldest first.
    `today`: how many runs of it have begun for the due instants of this local date. `since_last`:
    seconds between its due instant and the last one that wasn't refused, None without one.
    `asked_this_hour`: how often people asked for it in the last hour.
    """

    plan: str = "Self-hosted"
    routines: int | None = None
    on: int = 0
    rank: int = 1
    runs_a_day: int | None = None
    today: int = 0
    today_at: str = ""  # when today's run was, an ISO instant
    smallest_gap: float | None = None
    since_last: float | None = None
    asked_this_hour: int = 0


MOST_ASKED_AN_HOUR = 10


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
    if facts.grace is not None and facts.waited > facts.grace:
        return Refused(RunStatus.SKIP_WAITED, {"waited": facts.waited})
    refused = _by_plan(facts)
    if refused is not None:
        return refused
    if facts.machine is None or facts.machine_gone:
        name = facts.machine or "Its machine"
        return Refused(RunStatus.SKIP_MACHINE_GONE, {"machine": name})
    if facts.no_model:
        return Refused(RunStatus.SKIP_NO_MODEL, {"agent": facts.agent, "reason": facts.no_model})
    if facts.no_app:
        why: dict[str, object] = {"reason": facts.no_app, "variant": facts.no_app_why}
        if facts.barred:
            why |= {"barred": facts.barred, "barred_slug": facts.barred_slug}
        if facts.no_app_tools:
            why["tools"] = facts.no_app_tools
        return Refused(RunStatus.SKIP_CONNECTOR, why)
    return Admitted()


def _by_plan(facts: AdmissionFacts) -> Refused | None:
    """The plan's count, quota and smallest gap hold for the schedule and for triggers; Run it now
    is held only to ten an hour (schedules.md)."""
    limits = facts.limits
    if facts.by_person:
        if limits.asked_this_hour > MOST_ASKED_AN_HOUR:
            return Refused(RunStatus.SKIP_TOO_FREQUENT, {"by_person": True})
        return None
    plan: dict[str, object] = {"plan": limits.plan}
    if limits.routines is not None and limits.rank > limits.routines:
        return Refused(
            RunStatus.SKIP_PLAN_COUNT, plan | {"allowed": limits.routines, "on": limits.on}
        )
    if limits.runs_a_day is not None and limits.today >= limits.runs_a_day:
        return Refused(
            RunStatus.SKIP_PLAN_QUOTA,
            plan | {"allowed": limits.runs_a_day, "today_at": limits.today_at},
        )
    if (
        limits.runs_a_day is None  # a plan that counts by the day has no gap beside it
        and limits.smallest_gap is not None
        and limits.since_last is not None
        and limits.since_last < limits.smallest_gap
    ):
        return Refused(
            RunStatus.SKIP_TOO_FREQUENT,
            plan | {"since_last": limits.since_last, "smallest_gap": limits.smallest_gap},
        )
    return None
