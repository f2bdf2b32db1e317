"""What a run that goes on is at, by its own row."""

from routines_app.agents.turn import StepKind
from routines_app.models import Run
from routines_app.web.run_words import is_over

_LONGEST = 200  # characters


def doing_words(run: Run) -> str:
    """The step that is open: "reading notes.md"; empty when none is, or the run has ended."""
    title = str(run.doing.get("title", ""))[:_LONGEST]
    if is_over(run) or not title:
        return ""
    match run.doing.get("kind"):
        case StepKind.READ:
            return f"reading {title}"
        case StepKind.LISTED:
            return f"listing {title}"
        case StepKind.WROTE:
            return f"writing {title}"
        case StepKind.EDITED:
            return f"editing {title}"
        case StepKind.SEARCHED:
            return f"searching for {title}"
        case StepKind.FETCHED:
            return f"fetching {title}"
        case StepKind.WAITED:
            return f"waiting {title}"
        case StepKind.SAID:
            return "writing its answer"
        case StepKind.NOTE:
            return f"{title[0].lower()}{title[1:]}"
        case _:
            return f"running {title}"
