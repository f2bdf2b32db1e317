"""Choosing a runtime, trying a connection, and what importing this package costs."""

import json
import subprocess
import sys

import pytest

from routines_app.agents import runtimes
from routines_app.agents.model import ModelRuntime
from routines_app.agents.script import ScriptRuntime
from routines_app.agents.turn import ModelConnection
from tests.agents.support import KEY, MODELS, PROVIDERS, choice_of, price_of, request
from tests.fakes.model_provider import Answer, Fail, FakeProvider, Meter


def test_a_turn_without_a_model_is_a_script() -> None:
    assert isinstance(runtimes.runtime_for(request()), ScriptRuntime)


def test_a_turn_with_a_model_asks_it() -> None:
    with FakeProvider() as fake:
        wanted = request(model=choice_of(fake, "anthropic"))
    assert isinstance(runtimes.runtime_for(wanted), ModelRuntime)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_connection_that_works_says_how_fast_and_how_dear(provider: str) -> None:
    with FakeProvider() as fake:
        choice = choice_of(fake, provider)
        answer = runtimes.test_connection(choice.connection, choice.name, choice.price)
    assert answer.ok
    assert answer.sentence == (
        f"{MODELS[provider]} answered in {answer.seconds:.1f}s, one request, <$0.01"
    )
    assert answer.cost is not None
    assert 0 < fake.meter.billed <= answer.cost
    assert len(fake.seen) == 1
    assert KEY in json.dumps(fake.seen[0].headers)


def test_a_dear_connection_test_says_what_it_cost() -> None:
    meter = Meter(input_rate=300_000_000, output_rate=300_000_000)
    with FakeProvider([Answer(text="ready")], meter) as fake:
        choice = choice_of(fake, "openai-compatible")
        answer = runtimes.test_connection(choice.connection, choice.name, price_of(meter))
    assert answer.sentence.endswith(f"one request, ${meter.billed / 1_000_000:.2f}")


def test_a_connection_without_a_known_price_says_none() -> None:
    with FakeProvider() as fake:
        choice = choice_of(fake, "openai-compatible")
        answer = runtimes.test_connection(choice.connection, choice.name)
    assert answer.ok
    assert answer.cost is None
    assert answer.sentence.endswith("one request")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_connection_that_fails_says_so_in_the_providers_words(provider: str) -> None:
    with FakeProvider([Fail(401, "That key is unknown.")]) as fake:
        choice = choice_of(fake, provider)
        answer = runtimes.test_connection(choice.connection, choice.name, choice.price)
    assert not answer.ok
    assert answer.sentence == f"{MODELS[provider]} said no: That key is unknown."
    assert len(fake.seen) == 1


def test_a_connection_to_nobody_says_so() -> None:
    with FakeProvider() as fake:
        address = fake.base_url("openai-compatible")
    nobody = ModelConnection("openai-compatible", "", address, nearby=True)
    answer = runtimes.test_connection(nobody, "m")
    assert not answer.ok
    assert answer.sentence.startswith("m didn't answer: ")


def test_a_compatible_connection_needs_its_address() -> None:
    answer = runtimes.test_connection(ModelConnection("openai-compatible", ""), "m")
    assert not answer.ok
    assert "needs a base address" in answer.sentence


def test_model_libraries_load_only_when_theyre_asked_for() -> None:
    code = (
        "import sys, routines_app.agents, routines_app.agents.runtimes, "
        "routines_app.agents.environment, billing.prices\n"
        "heavy = ('pydantic_ai', 'openai', 'anthropic', 'google', 'httpx', 'httpx2', "
        "'genai_prices', 'pydantic')\n"
        "print([name for name in heavy if name in sys.modules])\n"
        "routines_app.agents.runtimes.load_libraries()\n"
        "print({'pydantic_ai', 'openai', 'anthropic', 'google'} <= set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["[]", "True"]
