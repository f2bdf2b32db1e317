"""A model's address is judged again by what its name answers at the moment of the call."""

import socket
from typing import Any

import pytest

from routines_app.agents.runtimes import test_connection as ask_connection
from routines_app.agents.turn import ModelConnection
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
