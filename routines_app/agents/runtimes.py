"""Which runtime takes a turn, and whether a connection to a model works."""

from dataclasses import dataclass

from billing.prices import MILLION, Price, cost_of
from foundation import clock
from routines_app.agents.line import Conversation, ModelLine
from routines_app.agents.model import ModelRuntime
from routines_app.agents.script import ScriptRuntime
from routines_app.agents.trouble import Trouble
from routines_app.agents.turn import ModelConnection, Runtime, TurnRequest

TEST_SECONDS = 20.0
TEST_TOKENS = 256  # enough for one that reasons before it says a word


@dataclass(frozen=True)
class ConnectionAnswer:
    """How a connection's test went. `cost` is micro-dollars, None where the price isn't known."""

    ok: bool
    sentence: str
    seconds: float
    cost: int | None


def runtime_for(request: TurnRequest) -> Runtime:
    """The script runtime for a turn without a model, else the model runtime."""
    return ScriptRuntime() if request.model is None else ModelRuntime()


def load_libraries() -> None:
    """Import the libraries for models and apps now: some seconds, that no turn then waits for.

    For a runner, in a thread, once it's up.
    """
    import mcp.client.streamable_http  # noqa: F401
    import pydantic_ai.direct
    import pydantic_ai.models.anthropic
    import pydantic_ai.models.google
    import pydantic_ai.models.openai  # noqa: F401


def test_connection(
    connection: ModelConnection, model: str, price: Price | None = None
) -> ConnectionAnswer:
    """Make one small request and say in a sentence how it went, in 20 seconds at most."""
    with ModelLine(connection, model, (), silence=TEST_SECONDS, longest=TEST_SECONDS) as line:
        talk = Conversation("Answer in one word.", "This is a test of the connection. Say: ready")
        answer = line.ask(talk, TEST_TOKENS, _no_reason_to_stop)
        # From when it was sent: loading a provider's library isn't the model's slowness.
        ended = clock.monotonic()
        seconds = ended - (line.exchange.began or ended)
    if isinstance(answer, Trouble):
        what = f"{model} {answer.variant}"
        return ConnectionAnswer(False, f"{what}: {answer.reason}", seconds, None)
    cost = None
    if price is not None:
        tokens = answer.tokens
        cost = cost_of(
            price,
            input_tokens=tokens.input,
            output_tokens=tokens.output,
            cached=tokens.cached,
            written=tokens.written,
        )
    paid = "" if cost is None else f", {_money(cost)}"
    return ConnectionAnswer(
        True, f"{model} answered in {seconds:.1f}s, one request{paid}", seconds, cost
    )


def _no_reason_to_stop() -> None:
    """The line keeps its own deadline."""


def _money(micro: int) -> str:
    cents = round(micro / (MILLION // 100))
    if micro and micro < MILLION // 100:
        return "<$0.01"
    return f"${cents // 100}.{cents % 100:02d}"
