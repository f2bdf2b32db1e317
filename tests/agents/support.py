"""What turns in tests are given: a request, a sink that keeps what it's told, a connection."""

from collections.abc import Callable
from dataclasses import dataclass, field

from billing.prices import Price
from routines_app.agents.turn import (
    ModelChoice,
    ModelConnection,
    NewStep,
    StepKind,
    TurnInterrupted,
    TurnRequest,
    Usage,
)
from tests.fakes.model_provider import FakeProvider, Meter

KEY = "sk-test-4f1c0ffee"
PROVIDERS = ("anthropic", "openai", "google", "openai-compatible")
MODELS = {
    "anthropic": "claude-sonnet-5-5",
    "openai": "gpt-6.1-terra",
    "google": "gemini-3.8-flash",
    "openai-compatible": "local-model",
}


@dataclass
class KeptSteps:
    """A sink in memory. `stop` says, at each call, whether the turn has to end."""

    stop: Callable[[], bool] = lambda: False
    steps: list[NewStep] = field(default_factory=list)
    begun: list[tuple[StepKind, str]] = field(default_factory=list)
    told: list[tuple[int, Usage]] = field(default_factory=list)
    streamed: list[str] = field(default_factory=list)
    printed_so_far: list[tuple[str, int]] = field(default_factory=list)
    checks: int = 0

    def begin(self, kind: StepKind, title: str) -> None:
        self.check()
        self.begun.append((kind, title))

    def record(self, step: NewStep) -> None:
        self.check()
        self.steps.append(step)

    def spent(self, micro: int, usage: Usage) -> None:
        self.told.append((micro, usage))
        self.check()

    def streaming(self, text: str) -> None:
        self.check()
        self.streamed.append(text)

    def printed(self, text: str, before: int) -> None:
        self.check()
        self.printed_so_far.append((text, before))

    def check(self) -> None:
        self.checks += 1
        if self.stop():
            raise TurnInterrupted

    @property
    def kinds(self) -> list[StepKind]:
        return [step.kind for step in self.steps]

    @property
    def cost(self) -> int:
        return sum(step.cost for step in self.steps)


def price_of(meter: Meter) -> Price:
    """The price that agrees with what a meter bills."""
    return Price(
        "the fake's",
        input=meter.input_rate,
        output=meter.output_rate,
        cached_input=meter.cached_rate,
        cache_write=meter.written_rate,
    )


def choice_of(fake: FakeProvider, provider: str, price: Price | None = None) -> ModelChoice:
    """A model at the fake, over one provider's wire format."""
    connection = ModelConnection(provider, KEY, fake.base_url(provider), nearby=True)  # type: ignore[arg-type]
    return ModelChoice(connection, MODELS[provider], price or price_of(fake.meter))


def request(instructions: str = "Look for news.", **more: object) -> TurnRequest:
    """A turn's request with the usual values."""
    values: dict[str, object] = {
        "run_id": "run-1",
        "routine_name": "Morning numbers",
        "instructions": instructions,
        "folder": "~/routines/morning-numbers",
        "state": "",
        "cap": 500_000,
        "seconds": 30.0,
        **more,
    }
    return TurnRequest(**values)  # type: ignore[arg-type]
