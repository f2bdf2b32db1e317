"""Connections found in the environment."""

import pytest

from routines_app.agents.environment import connections_in
from routines_app.agents.turn import ModelConnection


@pytest.mark.parametrize(
    ("environ", "found"),
    [
        ({}, []),
        ({"ANTHROPIC_API_KEY": " "}, []),
        ({"ANTHROPIC_API_KEY": "a"}, [ModelConnection("anthropic", "a")]),
        (
            {"ANTHROPIC_API_KEY": "a", "ANTHROPIC_BASE_URL": "https://proxy.example"},
            [ModelConnection("anthropic", "a", "https://proxy.example")],
        ),
        ({"ANTHROPIC_BASE_URL": "https://proxy.example"}, []),
        ({"OPENAI_API_KEY": "o"}, [ModelConnection("openai", "o")]),
        (
            {"OPENAI_BASE_URL": "http://localhost:11434/v1"},
            [ModelConnection("openai-compatible", "", "http://localhost:11434/v1")],
        ),
        (
            {"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "http://localhost:11434/v1"},
            [ModelConnection("openai-compatible", "o", "http://localhost:11434/v1")],
        ),
        (
            {"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "https://api.openai.com/v1"},
            [ModelConnection("openai", "o", "https://api.openai.com/v1")],
        ),
        ({"GEMINI_API_KEY": "g"}, [ModelConnection("google", "g")]),
        ({"GOOGLE_API_KEY": "new", "GEMINI_API_KEY": "old"}, [ModelConnection("google", "new")]),
        (
            {"GEMINI_API_KEY": "g", "OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a"},
            [
                ModelConnection("anthropic", "a"),
                ModelConnection("openai", "o"),
                ModelConnection("google", "g"),
            ],
        ),
    ],
)
def test_what_an_environment_names(environ: dict[str, str], found: list[ModelConnection]) -> None:
    assert connections_in(environ) == found
