"""Each provider's library, set up so that nothing happens behind a turn's back: no retries, no
redirects, no address or account from the worker's own environment.

The libraries take seconds to import, so they are imported inside the functions.
"""

import ssl
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from foundation import clock
from foundation.addresses import Refused, ResolvedAddress
from routines_app.agents.guarded import Judge, guarded_transport
from routines_app.agents.trouble import Exchange
from routines_app.agents.turn import ModelConnection

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model

# Named, so that a worker's own environment can't send a person's work elsewhere.
ADDRESSES = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    "google": "https://generativelanguage.googleapis.com",
}


class SecondRequest(Exception):
    """A library tried to send a second request for one that was asked for."""


def http_client(
    silence: float, exchange: Callable[[], Exchange], judge: Judge
) -> "httpx2.AsyncClient":
    import httpx2

    async def before(request: httpx2.Request) -> None:
        seen = exchange()
        if seen.began is not None:
            raise SecondRequest("A second request was about to be sent.")
        seen.began = clock.monotonic()
        limits = {"connect": min(10.0, silence), "read": silence, "write": silence, "pool": 10.0}
        request.extensions = {**request.extensions, "timeout": limits}
        for name in ("OpenAI-Organization", "OpenAI-Project"):
            # The library takes these from the worker's environment; the key isn't the worker's.
            request.headers.pop(name, None)

    def judged(url: str) -> ResolvedAddress | Refused:
        found = judge(url)
        if isinstance(found, Refused):
            exchange().refused = found.sentence
        return found

    async def after(response: httpx2.Response) -> None:
        exchange().status = response.status_code

    return httpx2.AsyncClient(
        transport=guarded_transport(trusted(), judged),
        timeout=httpx2.Timeout(silence, connect=min(10.0, silence)),
        follow_redirects=False,
        event_hooks={"request": [before], "response": [after]},
    )


@cache
def trusted() -> ssl.SSLContext:
    """The authorities that are trusted, read once: that takes longer than a short request."""
    import httpx2

    return httpx2.create_ssl_context()


def open_model(
    connection: ModelConnection, name: str, client: "httpx2.AsyncClient"
) -> "Model[Any]":
    base_url = connection.base_url or ADDRESSES.get(connection.provider)
    if base_url is None:
        raise ValueError("An OpenAI-compatible connection needs a base address.")
    match connection.provider:
        case "anthropic":
            return _anthropic(connection.api_key, base_url, name, client)
        case "google":
            return _google(connection.api_key, base_url, name, client)
        case "openai" | "openai-compatible":
            return _openai(connection, base_url, name, client)


def _anthropic(key: str, base_url: str, name: str, client: "httpx2.AsyncClient") -> "Model[Any]":
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    sdk = AsyncAnthropic(api_key=key, base_url=base_url, http_client=client, max_retries=0)
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=sdk))


def _google(key: str, base_url: str, name: str, client: "httpx2.AsyncClient") -> "Model[Any]":
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(api_key=key, base_url=base_url, http_client=client)
    return GoogleModel(name, provider=provider)


def _openai(
    connection: ModelConnection, base_url: str, name: str, client: "httpx2.AsyncClient"
) -> "Model[Any]":
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    # A server that needs no key still gets one: the library insists.
    sdk = AsyncOpenAI(
        api_key=connection.api_key or "none",
        base_url=base_url,
        http_client=client,
        max_retries=0,
    )
    if connection.provider == "openai":
        return OpenAIResponsesModel(name, provider=OpenAIProvider(openai_client=sdk))
    # Most compatible servers know only the older name of the limit, and a limit that is ignored
    # is no cap. A stream without its closing reason was cut.
    profile = OpenAIModelProfile(
        openai_chat_supports_max_completion_tokens=False,
        openai_chat_streaming_requires_finish_reason=True,
    )
    provider = OpenAICompatibleProvider("compatible", openai_client=sdk, profile=profile)
    return OpenAIChatModel(name, provider=provider)


def settings_for(connection: ModelConnection, max_tokens: int, silence: float) -> Any:
    settings: dict[str, object] = {"max_tokens": max_tokens, "timeout": silence}
    match connection.provider:
        case "anthropic":
            settings["cache"] = True
        case "openai":
            # What a routine reads isn't the provider's to keep.
            settings["openai_store"] = False
        case "google" | "openai-compatible":
            pass
    return settings
