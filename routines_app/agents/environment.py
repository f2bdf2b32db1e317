"""Connections that the process's environment holds, for an installation with one owner."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from routines_app.agents.turn import ModelConnection

OPENAI_HOST = "api.openai.com"

# The names that each provider's own library reads: its key, then its address.
_NAMES: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("anthropic", ("ANTHROPIC_API_KEY",), ("ANTHROPIC_BASE_URL",)),
    ("openai", ("OPENAI_API_KEY",), ("OPENAI_BASE_URL",)),
    ("google", ("GOOGLE_API_KEY", "GEMINI_API_KEY"), ("GOOGLE_GEMINI_BASE_URL",)),
)


def connections_in(environ: Mapping[str, str]) -> list[ModelConnection]:
    """The connections that an environment names, in the order Anthropic, OpenAI, Google.

    Where OPENAI_BASE_URL names another server than OpenAI's, it's one that speaks its format, with
    or without a key. GOOGLE_API_KEY wins over GEMINI_API_KEY. Blank values count as absent.
    """
    found: list[ModelConnection] = []
    for provider, keys, addresses in _NAMES:
        key, address = _first(environ, keys), _first(environ, addresses)
        match provider:
            case "openai" if address and urlsplit(address).hostname != OPENAI_HOST:
                found.append(ModelConnection("openai-compatible", key, address))
            case "anthropic" | "openai" | "google" if key:
                found.append(ModelConnection(provider, key, address or None))
    return found


def _first(environ: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((value for name in names if (value := environ.get(name, "").strip())), "")
