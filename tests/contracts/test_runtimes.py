"""Both runtimes keep the contract."""

from collections.abc import Iterator
from contextlib import contextmanager

from routines_app.agents.model import ModelRuntime
from routines_app.agents.script import ScriptRuntime
from tests.agents.support import choice_of, request
from tests.contracts.runtime_contract import RuntimeContract, Work
from tests.fakes.model_provider import FakeProvider, call, finish


class TestScript(RuntimeContract):
    @contextmanager
    def work(self, command: str, headline: str, seconds: float) -> Iterator[Work]:
        last = f"report: {headline}" if headline else "nothing changed"
        yield ScriptRuntime(), request(f"{command}\necho '{last}'", seconds=seconds)


class TestModel(RuntimeContract):
    @contextmanager
    def work(self, command: str, headline: str, seconds: float) -> Iterator[Work]:
        script = [call("run_command", command=command), finish(headline, changed=bool(headline))]
        with FakeProvider(script) as fake:
            model = choice_of(fake, "openai-compatible")
            yield ModelRuntime(pauses=()), request("Work.", model=model, seconds=seconds)
        assert fake.problems == []
