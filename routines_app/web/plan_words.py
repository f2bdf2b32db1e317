"""What a plan covers, in words."""

from datetime import timedelta

from billing.plans import Plan
from routines_app.web.dates import count_words
from routines_app.web.templatetags.words import money


def covers(plan: Plan) -> str:
    """The plan in a sentence or two."""
    if plan.routines is None:
        return (
            "As many routines and machines as this place bears, as often as you like. "
            "What a model costs is paid to its provider, with the key that you connect."
        )
    on = _counted(plan.routines, "routine")
    said = f"{plan.title}: {on}, {often(plan)}, on {machines(plan)}."
    if plan.credit is not None:
        said += f" It includes {money(plan.credit)} of credit each month."
    return said


def often(plan: Plan, *, bare: bool = False) -> str:
    """How often one routine may run; `bare` leaves "as often as" out."""
    if plan.runs_a_day == 1:
        return "once a day"
    if plan.smallest_gap is None:
        return "you like" if bare else "as often as you like"
    every = f"every {int(plan.smallest_gap / timedelta(minutes=1))} minutes"
    return every if bare else f"as often as {every}"


def machines(plan: Plan, *, bare: bool = False) -> str:
    """How many machines it covers, and how many awake at once; `bare` leaves the noun out."""
    if plan.machines is None:
        return "as many as this place bears" if bare else "as many machines as this place bears"
    number = count_words(plan.machines) if bare else _counted(plan.machines, "machine")
    if plan.awake_at_once is None or plan.machines == 1:
        return number
    if plan.awake_at_once >= plan.machines:
        every = "both" if plan.machines == 2 else "all"
        return f"{number}, {every} awake at once"
    return f"{number}, {count_words(plan.awake_at_once)} awake at once"


def routines(plan: Plan) -> str:
    """How many routines may be on."""
    return "Any number" if plan.routines is None else count_words(plan.routines).capitalize()


def _counted(number: int, noun: str) -> str:
    return f"{count_words(number)} {noun}{'' if number == 1 else 's'}"
