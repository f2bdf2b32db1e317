"""A model's address is judged again by what its name answers at the moment of the call."""

import socket
import time
from pathlib import Path
from typing import Any

import pytest

from billing.prices import Price
from routines_app.agents.model import ModelRuntime
from routines_app.agents.runtimes import test_connection as ask_connection
from routines_app.agents.turn import ModelChoice, ModelConnection, TurnInterrupted
from tests.agents.support import KeptSteps, request
from tests.fakes.computer import FolderComputer
from tests.fakes.model_provider import FakeProvider


def connection(fake: FakeProvider, host: str, *, nearby: bool) -> ModelConnection:
    return ModelConnection(
        "openai-compatible", "sk-canary", f"http://{host}:{fake.port}/v1", nearby=nearby
    )


def test_this_computer_is_called_where_one_owner_runs_it() -> None:
    with FakeProvider() as fake:
        assert ask_connection(connection(fake, "127.0.0.1", nearby=True), "small").ok


def test_this_computer_is_never_called_for_a_tenant() -> None:
    with FakeProvider() as fake:
        answer = ask_connection(connection(fake, "127.0.0.1", nearby=False), "small")
        assert (answer.ok, fake.seen) == (False, [])
        assert "own network" in answer.sentence


def test_a_name_that_now_leads_inside_is_refused_before_a_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def rebound(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr("routines_app.agents.guarded.socket.getaddrinfo", rebound)
    with FakeProvider() as fake:
        answer = ask_connection(connection(fake, "models.example.org", nearby=False), "small")
        assert (answer.ok, fake.seen) == (False, [])
        assert "own network" in answer.sentence


def test_stop_doesnt_wait_for_a_name_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    def stuck(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        asked.append(time.monotonic())
        time.sleep(4.0)
        raise OSError

    monkeypatch.setattr("routines_app.agents.guarded.socket.getaddrinfo", stuck)
    with FakeProvider() as fake:
        there = connection(fake, "models.example.org", nearby=True)
        choice = ModelChoice(there, "small", Price("m", input=1, output=1))
        steps = KeptSteps(stop=lambda: bool(asked) and time.monotonic() > asked[0] + 0.5)
        with pytest.raises(TurnInterrupted):
            ModelRuntime().take_turn(request(model=choice), FolderComputer(tmp_path), steps)
    assert time.monotonic() - asked[0] < 0.5 + 1.5
