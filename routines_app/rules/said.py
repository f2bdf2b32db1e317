"""What the sentences of runs are made of, and the small joints between their parts."""

from dataclasses import dataclass

from routines_app.rules.money import took


@dataclass(frozen=True)
class Act:
    """The one useful action of a sentence. `code` names it for the page: run_now, edit_check,
    edit_work, edit_schedule, raise_cap, allow_longer, raise_budget, turn_on, resume, see_run,
    start_machine, restore, choose_machine, models, see_output, see_failures, change_plan, apps,
    agent, edit_apps.
    """

    code: str
    words: str


@dataclass(frozen=True)
class Sentence:
    """What a row says. `lead` ends with a full stop, or is carried on by `rest`."""

    lead: str
    rest: str = ""
    second: str = ""
    act: Act | None = None

    @property
    def text(self) -> str:
        """Lead and rest as one line."""
        return f"{self.lead} {self.rest}".strip()


@dataclass(frozen=True)
class RunFacts:
    """What the sentences are made of; times are already in words, for the reader's zone.

    Seconds for lengths, micro-dollars for money. What isn't known stays empty, and the sentence
    goes without it.
    """

    machine: str = "the machine"
    agent: str = "The agent"
    person: str = ""
    source: str = "by the schedule"  # "by the schedule", "by Ada"
    asked: str = ""  # "4 seconds ago"
    place: int = 0  # its place in the line for the machine, 1 is next
    spent: int = 0
    cap: int = 0
    elapsed: float = 0.0
    doing: str = ""  # what it was at: "running make test"
    command: str = ""
    exit_code: int | None = None
    check_seconds: float | None = None
    last_line: str = ""
    printed: str = ""  # what the check wrote to stderr
    reason: str = ""
    variant: str = ""
    what: str = ""  # what refused: an app, its sign_in, a command, the machine, or something other
    since: str = ""
    headline: str = ""
    files_changed: int = 0
    left_text: bool = False  # it left a text: what it made, or what had come of its answer
    other_run: str = ""  # "9:00"
    limit_seconds: float = 0.0
    plan: str = ""
    script: bool = False  # it runs a script, so that no model would have been called
    turned_off: bool = False  # this run's end turned the routine off
    usual_wake: float = 0.0  # what the machine usually takes to wake
    next_allowed: str = ""  # "9:15"
    barred: str = ""  # who may not use an app that it needs: "Writer may not", "No agent may"
    app_tools: str = ""  # the tools chosen of that app: barred, or else gone: "find or close"
    next_worst: int = 0  # the most that the request which didn't fit could have cost


def while_at(facts: RunFacts) -> str:
    return f" while {facts.doing}" if facts.doing else ""


def files_words(count: int) -> str:
    match count:
        case 0:
            return ""
        case 1:
            return "Changed 1 file."
        case _:
            return f"Changed {count:,} files."


def two(first: str, second: str, between: str = " ") -> str:
    return between.join(part for part in (first, second) if part)


def full_stop(text: str) -> str:
    text = text.strip()
    return text if not text or text.endswith((".", "!", "?", "…")) else f"{text}."


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def rounded(seconds: float) -> str:
    """A length as prose says it: 40 seconds, 4 minutes."""
    if seconds < 90:
        whole = max(round(seconds), 1)
        return f"{whole} second{'' if whole == 1 else 's'}"
    return f"{round(seconds / 60)} minutes"


def limit_words(seconds: float) -> str:
    """A limit as prose says it, to the second.

    >>> limit_words(45), limit_words(60), limit_words(1_200), limit_words(95.2)
    ('45 seconds', '1 minute', '20 minutes', '1m 35s')
    """
    whole = max(round(seconds), 1)
    minutes, rest = divmod(whole, 60)
    if minutes and rest:
        return took(whole)
    count, unit = (minutes, "minute") if minutes else (whole, "second")
    return f"{count:,} {unit}{'' if count == 1 else 's'}"
