"""The HTTP client that the providers' libraries are given: one request, to one address."""

import asyncio

import httpx2
import pytest

from routines_app.agents.guarded import judge_for
from routines_app.agents.providers import SecondRequest, http_client
from routines_app.agents.trouble import Exchange
from tests.fakes.model_provider import FakeProvider, Redirect

HERE = judge_for(nearby=True)
BODY = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}


async def post(client: httpx2.AsyncClient, address: str, times: int = 1) -> httpx2.Response:
    async with client:
        for _ in range(times):
            response = await client.post(f"{address}/chat/completions", json=BODY)
    return response


def test_it_follows_no_redirect() -> None:
    with FakeProvider() as elsewhere:
        script = [Redirect(f"{elsewhere.base_url('openai')}/chat/completions")]
        with FakeProvider(script) as fake:
            client = http_client(5.0, Exchange, HERE)
            response = asyncio.run(post(client, fake.base_url("openai")))
    assert response.status_code == 307
    assert elsewhere.seen == []


def test_it_sends_no_second_request_for_one_that_was_asked_for() -> None:
    exchange = Exchange()
    with FakeProvider() as fake:
        client = http_client(5.0, lambda: exchange, HERE)
        with pytest.raises(SecondRequest):
            asyncio.run(post(client, fake.base_url("openai"), times=2))
    assert len(fake.seen) == 1
    assert exchange.status == 200


def test_the_workers_own_account_goes_nowhere() -> None:
    headers = {"OpenAI-Organization": "org-worker", "OpenAI-Project": "proj-worker"}
    with FakeProvider() as fake:
        client = http_client(5.0, Exchange, HERE)
        client.headers.update(headers)
        asyncio.run(post(client, fake.base_url("openai")))
    assert "worker" not in repr(fake.seen[0].headers)
