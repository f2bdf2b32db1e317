"""Why a run didn’t begin, as sentences: all of these cost $0.00 and none counts."""

from routines_app.rules.said import Act, RunFacts, Sentence, capital, full_stop
from routines_app.rules.status import RunStatus


def refusal(status: RunStatus, facts: RunFacts) -> Sentence:
    """The sentence of a refusal. Raises AssertionError for a status that is none."""
    lead = "Didn’t run."
    machine = capital(facts.machine) if facts.machine == "the machine" else facts.machine
    match status:
        case RunStatus.SKIP_OFF:
            by = f"By {facts.person}." if facts.person else ""
            return Sentence(lead, "The routine was turned off.", by, Act("turn_on", "Turn it on"))
        case RunStatus.SKIP_PAUSED:
            by = f"By {facts.person}." if facts.person else ""
            return Sentence(
                lead, "The workspace was paused.", by, Act("resume", "Turn everything back on")
            )
        case RunStatus.SKIP_AUTO_OFF:
            return Sentence(
                lead,
                "It turned itself off after five failures in a row.",
                act=Act("see_failures", "See what failed"),
            )
        case RunStatus.SKIP_BUDGET:
            rest = facts.reason or "The workspace’s budget for this month is spent."
            again = "Starts again next month, or raise it."
            return Sentence(lead, rest, again, Act("raise_budget", "Raise the budget"))
        case RunStatus.SKIP_PLAN_COUNT:
            rest = facts.reason or "More routines are on than the plan covers."
            second = "Turn one off, or change plan."
            return Sentence(lead, rest, second, Act("change_plan", "Change plan"))
        case RunStatus.SKIP_PLAN_QUOTA:
            rest = facts.reason or "The plan’s runs for today are used."
            return Sentence(lead, rest, act=Act("change_plan", "Change plan"))
        case RunStatus.SKIP_COLD:
            return Sentence(
                lead, f"{machine} was in cold storage.", act=Act("restore", "Restore it")
            )
        case RunStatus.SKIP_WAKE_REFUSED:
            why = facts.reason or "the reason wasn’t given"
            return Sentence(
                lead,
                f"{machine} wasn’t allowed to start: {full_stop(why)}",
                act=Act("start_machine", f"See {machine}"),
            )
        case RunStatus.SKIP_WAKE_TIMEOUT:
            return Sentence(
                lead,
                f"{machine} didn’t wake within 3 minutes.",
                "Our side. We’ve been told too.",
                Act("run_now", "Run it now"),
            )
        case RunStatus.SKIP_MACHINE_GONE:
            another = Act("choose_machine", "Choose another machine")
            return Sentence(lead, f"{machine} has been deleted.", act=another)
        case RunStatus.SKIP_OVERLAP:
            other = f"The {facts.other_run} run" if facts.other_run else "The run before it"
            return Sentence(lead, f"{other} was still going.", act=Act("see_run", "See that run"))
        case RunStatus.SKIP_TOO_FREQUENT:
            allowed = f"Next allowed at {facts.next_allowed}." if facts.next_allowed else ""
            return Sentence(lead, facts.reason or "It was asked again too soon.", allowed)
        case RunStatus.SKIP_MISSED:
            rest = facts.reason or "Our scheduler was down at that time."
            second = "" if rest.startswith("This computer") else "That’s on us."
            return Sentence(lead, rest, second, Act("run_now", "Run it now"))
        case RunStatus.SKIP_SUPERSEDED:
            return Sentence(
                lead,
                "A newer event took its place in the burst.",
                act=Act("see_run", "See the newer one"),
            )
        case RunStatus.SKIP_CHANGED:
            return Sentence(lead, "The schedule was changed while it waited.")
        case RunStatus.SKIP_WAITED:
            return Sentence(
                lead,
                facts.reason or "It waited for a place until its time had passed.",
                act=Act("see_run", "See what was running"),
            )
        case RunStatus.SKIP_NO_MODEL:
            why = facts.reason or "none is connected"
            return Sentence(
                lead,
                f"{facts.agent} has no model to use: {full_stop(why)}",
                "Found before anything was spent.",
                Act("models", "Connect a model"),
            )
        case RunStatus.SKIP_CONNECTOR:
            app = facts.reason or "An app that it needs"
            spent = "Found before anything was spent."
            if facts.barred:
                act = Act("agent", f"Allow {app}")
                what = f"{facts.app_tools} of {app}" if facts.app_tools else app
                return Sentence(lead, f"{facts.barred} use {what}.", spent, act)
            if facts.app_tools:
                rest = f"{app} no longer has {facts.app_tools}, and nothing else of it was chosen."
                return Sentence(lead, rest, spent, Act("edit_apps", "Choose its tools"))
            act = Act("apps", "Connect it")
            return Sentence(lead, f"{app} isn’t connected.", facts.variant, act)
        case RunStatus.FAIL_NO_GRANT:
            whose = f"{facts.person}’s approval" if facts.person else "The approval"
            return Sentence("Held back.", f"{whose} doesn’t cover where this now posts.")
        case _:
            raise AssertionError(f"{status} isn't a refusal")
