"""A line to a model: one request at a time, over a provider's own wire format.

The model libraries take seconds to import and live only here, inside functions. Their event loop
runs on a thread of its own, and the caller's thread waits beside it, so that a turn can check
for Stop twice a second and still use its database connection, which is bound to its thread.

One `ask` is one HTTP request: the libraries' own retries are off, redirects aren't followed, and
a second request within an `ask` is refused before it's sent.
"""

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from routines_app.agents.answer import Called, Reply, read_answer, texts_of
from routines_app.agents.guarded import judge_for
from routines_app.agents.kept import KeptTurn, as_messages
from routines_app.agents.offered import Tool
from routines_app.agents.providers import http_client, open_model, settings_for
from routines_app.agents.trouble import Exchange, Trouble, trouble_of
from routines_app.agents.turn import ModelConnection
from routines_app.agents.wording import storable

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model

TICK = 0.4  # seconds between looks at whether the turn has to end
SILENCE = 60.0  # seconds without a byte after which a request is given up
CLOSING = 0.5  # seconds that a connection may take to close
LONGEST = 300.0  # seconds that one answer may take, however lively its stream


class Conversation:
    """The messages of one turn, in the order in which a provider gets them, after those of the
    turns that it goes on from."""

    def __init__(self, system: str, first: str, earlier: tuple[KeptTurn, ...] = ()) -> None:
        self.messages: list[ModelMessage] = as_messages(earlier, system, first)

    def hear(self, reply: Reply) -> None:
        """Keep an answer."""
        self.messages.append(reply.response)

    def tell(self, results: list[tuple[Called, str]]) -> None:
        """Answer each tool call of the last reply."""
        from pydantic_ai.messages import ModelRequest, ToolReturnPart

        self.messages.append(
            ModelRequest(
                parts=[
                    ToolReturnPart(
                        tool_name=call.name, content=storable(text), tool_call_id=call.id
                    )
                    for call, text in results
                ]
            )
        )

    def prompt(self, text: str) -> None:
        """Say one thing more from the person's side."""
        from pydantic_ai.messages import ModelRequest, UserPromptPart

        self.messages.append(ModelRequest(parts=[UserPromptPart(text)]))


class ModelLine:
    """An open line to one model; a context manager. Used by one thread.

    `exchange` is what was seen of the latest request.
    """

    def __init__(
        self,
        connection: ModelConnection,
        model: str,
        tools: tuple[Tool, ...],
        *,
        silence: float = SILENCE,
        longest: float = LONGEST,
    ) -> None:
        self._connection = connection
        self._name = model
        self._tools = tools
        self._silence = silence
        self._longest = longest
        self.exchange = Exchange()
        self._loop = asyncio.new_event_loop()
        self._lookups = concurrent.futures.ThreadPoolExecutor(2, thread_name_prefix="model-lookup")
        self._loop.set_default_executor(self._lookups)
        self._thread = threading.Thread(target=self._loop.run_forever, name="model", daemon=True)
        self._client: httpx2.AsyncClient | None = None
        self._model: Model[Any] | None = None
        self._heard: list[str] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        # A name server may keep one of its threads; nobody waits for that either.
        self._lookups.shutdown(wait=False, cancel_futures=True)
        self._loop.close()

    def ask(
        self, conversation: Conversation, max_tokens: int, tick: Callable[[], None]
    ) -> Reply | Trouble:
        """Send one request and wait for its whole answer, calling `tick` meanwhile.

        What `tick` raises breaks the request off and passes through.
        """
        self.exchange = Exchange()
        self._heard = []
        return self._wait(self._ask(conversation, max_tokens), tick)

    @property
    def heard(self) -> str:
        """The text of the answer that is coming in, as far as it has come."""
        return "".join(self._heard)

    def _wait(
        self, work: Coroutine[Any, Any, Reply | Trouble], tick: Callable[[], None]
    ) -> Reply | Trouble:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            while not concurrent.futures.wait([future], timeout=TICK).done:
                tick()
        except BaseException:
            future.cancel()
            raise
        return future.result()

    async def _ask(self, conversation: Conversation, max_tokens: int) -> Reply | Trouble:
        from pydantic_ai.direct import model_request_stream

        stream = None
        try:
            if self._model is None:
                self._client = http_client(
                    self._silence,
                    lambda: self.exchange,
                    judge_for(nearby=self._connection.nearby),
                )
                self._model = open_model(self._connection, self._name, self._client)
            async with (
                asyncio.timeout(self._longest),
                model_request_stream(
                    self._model,
                    conversation.messages,
                    model_settings=settings_for(self._connection, max_tokens, self._silence),
                    model_request_parameters=_parameters(self._tools),
                ) as stream,
            ):
                heard = self._heard
                async for event in stream:
                    heard.extend(texts_of(event))
                return read_answer(stream.get())
        except Exception as error:
            # Any error of three providers' libraries belongs on the run's row, in plain words.
            partial = "" if stream is None else (stream.get().text or "")
            return trouble_of(
                error, self.exchange, partial=partial, secret=self._connection.api_key
            )

    async def _close(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        if self._client is not None:
            # Whoever doesn't say goodbye in time is left: the turn's end never waits for them.
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSING):
                    await self._client.aclose()
        await self._loop.shutdown_asyncgens()


def _parameters(tools: tuple[Tool, ...]) -> Any:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=tool.parameters,
                strict=False,
            )
            for tool in tools
        ],
        allow_text_output=True,
    )
