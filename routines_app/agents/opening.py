"""What a turn's first request holds besides the turns that it goes on from, and its weight."""

from dataclasses import dataclass

from billing.prices import Price
from routines_app.agents.budget import TurnBudget, bytes_of
from routines_app.agents.offered import Tool, offered
from routines_app.agents.prompt import first_message, system_prompt
from routines_app.agents.turn import TurnRequest


@dataclass(frozen=True)
class Opening:
    """The system prompt, the first message, and the tools that are offered."""

    system: str
    first: str
    tools: tuple[Tool, ...]


def opening_of(request: TurnRequest) -> Opening:
    """What a turn opens with."""
    tools = offered(request.tools) + (request.apps.tools if request.apps else ())
    return Opening(system_prompt(request.persona), first_message(request), tools)


def budget_of(request: TurnRequest, opening: Opening, price: Price) -> TurnBudget:
    """The turn's budget, which counts its opening and no earlier turn yet."""
    budget = TurnBudget(request.cap, price, request.spent, request.usage)
    described = [f"{tool.name}{tool.description}{tool.parameters}" for tool in opening.tools]
    parts = 2 + len(opening.tools)
    budget.add_text(bytes_of(opening.system, opening.first, *described), parts=parts)
    return budget
