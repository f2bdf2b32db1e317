"""What fast, balanced and deep mean in a workspace."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction

from accounts.models import User, Workspace
from foundation import database_clock
from routines_app.configure.models import Unusable, UsableModel, named_model, ways_of, word_model
from routines_app.models import ModelWord
from routines_app.rules.roster import Tier


@dataclass(frozen=True)
class Meaning:
    """What one word means now. `said` is what the workspace chose for it, "" where its
    connections decide.
    """

    tier: Tier
    model: UsableModel | Unusable
    said: str


def meanings_of(workspace: Workspace) -> list[Meaning]:
    """Each word with what it means, fast first."""
    ways = ways_of(workspace)
    said = dict(ModelWord.objects.filter(workspace=workspace).values_list("word", "model"))
    return [
        Meaning(tier, word_model(workspace, tier, ways), said.get(tier.value, "")) for tier in Tier
    ]


def set_words(workspace: Workspace, person: User, chosen: Mapping[Tier, str]) -> dict[str, str]:
    """Choose a model for each of these words, `provider/model`; "" leaves it to the connections.

    Returns what stands against it, a word to a sentence; {} when all are set. All or none.
    """
    ways = ways_of(workspace)
    problems = {}
    for tier, label in chosen.items():
        found = named_model(workspace, label.strip(), ways) if label.strip() else None
        if isinstance(found, Unusable):
            reason = f"{found.reason[:1].upper()}{found.reason[1:]}"
            problems[tier.value] = f"{reason}. Choose a model that is connected and has a price."
    if problems:
        return problems
    with transaction.atomic():
        for tier, label in chosen.items():
            if not label.strip():
                ModelWord.objects.filter(workspace=workspace, word=tier).delete()
                continue
            values = {
                "model": label.strip(),
                "changed_by": person,
                "changed_at": database_clock.now(),
            }
            ModelWord.objects.update_or_create(workspace=workspace, word=tier, defaults=values)
    return {}
