"""Apps as a turn uses them: whose tools it is offered, and what comes of calling one.

Each app is an MCP server. A session with one begins when it is first needed, serves the whole
turn, and ends with it. Sessions live on an event loop with a thread of its own; the caller's
thread waits beside it, so that a turn can look for Stop four times a second.
"""

import asyncio
import concurrent.futures
import hashlib
import re
import threading
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self, TypeVar

from routines_app.agents.mcp_session import (
    CLOSING,
    AppAnswer,
    AppServer,
    AppTrouble,
    ListedTool,
    McpSession,
)
from routines_app.agents.offered import Tool
from routines_app.rules.allowed import Allowed, tools_within
from routines_app.rules.chosen import Choice, chosen_of

Done = TypeVar("Done")

BETWEEN = "__"  # between an app's slug and its tool's name
LONGEST_NAME = 64  # characters of a tool's name that every provider takes
TICK = 0.25  # seconds between looks at whether the turn has to end
CALLING = 60.0  # seconds that one call may take
MOST_UNANSWERED = 2  # calls in a row after which an app counts as silent: one may just be slow
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True)
class App:
    """One app that a turn may use. `slug` stands before the names of its tools.

    `tools` are all that it lists, `chosen` those of them that the turn may use. `server` None: it
    can't be reached at all now, and `trouble` is why.
    """

    slug: str
    name: str
    tools: tuple[ListedTool, ...]
    server: AppServer | None
    required: bool = False
    trouble: AppTrouble | None = None
    chosen: Choice = None

    @property
    def offered(self) -> tuple[ListedTool, ...]:
        """Its tools that the turn is offered."""
        names = set(chosen_of(self.chosen, (tool.name for tool in self.tools)))
        return tuple(tool for tool in self.tools if tool.name in names)


def is_of_an_app(name: str) -> bool:
    """Whether a tool's name is one of an app's."""
    return BETWEEN in name


def name_of(slug: str, tool: str) -> str:
    """A tool of an app as a model calls it. What no provider takes is replaced, and then a mark
    made from the whole name keeps two tools apart.

    >>> name_of("helpdesk", "find_ticket")
    'helpdesk__find_ticket'
    >>> name_of("helpdesk", "tickets/find")
    'helpdesk__tickets_find_5ddb64'
    """
    plain = f"{slug}{BETWEEN}{_NOT_IN_NAMES.sub('_', tool)}"
    if plain == f"{slug}{BETWEEN}{tool}" and len(plain) <= LONGEST_NAME:
        return plain
    mark = hashlib.sha256(tool.encode()).hexdigest()[:6]
    return f"{plain[: LONGEST_NAME - len(mark) - 1]}_{mark}"


def narrowed(apps: tuple[App, ...], allowed: Allowed) -> tuple[App, ...]:
    """What an agent may use of these apps: without the tools, and the whole apps, that it may
    not."""
    if allowed is None:
        return apps
    found = []
    for app in apps:
        names = tools_within(allowed, app.slug, (tool.name for tool in app.offered))
        if names:
            found.append(replace(app, chosen=names))
    return tuple(found)


class OpenApps:
    """The apps of one turn; a context manager, used by one thread.

    `tools` is what a model is offered, always in one order. `called` holds the slugs of apps that
    answered a call, `opened` of those with which a session began, `troubles` what went wrong last.
    """

    def __init__(self, apps: tuple[App, ...]) -> None:
        self._offer(apps)
        self.opened: set[str] = set()
        self.called: set[str] = set()
        self.troubles: dict[str, AppTrouble] = {}
        self._unanswered = Counter[str]()  # calls in a row, by app
        self._sessions: dict[str, McpSession] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lookups = concurrent.futures.ThreadPoolExecutor(2, thread_name_prefix="app-lookup")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._loop is not None and self._thread is not None:
            closing = asyncio.run_coroutine_threadsafe(self._close(), self._loop)
            with suppress(TimeoutError, concurrent.futures.TimeoutError):
                closing.result(timeout=3 * CLOSING)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
        # A name server may keep one of its threads; nobody waits for that.
        self._lookups.shutdown(wait=False, cancel_futures=True)

    def narrow(self, allowed: Allowed) -> None:
        """Offer from now on only what an agent may use, which turned out to do the work."""
        self._offer(narrowed(tuple(self._apps), allowed))

    def _offer(self, apps: tuple[App, ...]) -> None:
        self._apps = sorted(apps, key=lambda app: app.slug)
        named = {
            name_of(app.slug, tool.name): (app, tool) for app in self._apps for tool in app.offered
        }
        self._named = dict(sorted(named.items()))
        self.tools = tuple(
            Tool(name, f"From the app {app.name}. {tool.description}", tool.schema, tool.changes)
            for name, (app, tool) in self._named.items()
        )

    def open_required(self, check: Callable[[], None]) -> tuple[App, AppTrouble] | None:
        """Begin a session with each app that is required; the first with which none begins.

        What `check` raises passes through within a moment.
        """
        for app in self._apps:
            if app.required:
                found = self._session(app, check)
                if isinstance(found, AppTrouble):
                    return app, found
        return None

    def app_of(self, name: str) -> App | None:
        """The app that one of `tools` belongs to; None for any other name."""
        return self._named[name][0] if name in self._named else None

    def call(
        self, name: str, arguments: dict[str, object], seconds: float, check: Callable[[], None]
    ) -> AppAnswer | AppTrouble:
        """Call one of `tools`, in at most `seconds`. What `check` raises breaks it off."""
        app, tool = self._named[name]
        session = self._session(app, check)
        if isinstance(session, AppTrouble):
            return session
        limit = max(min(seconds, CALLING), 0.1)
        answer = self._wait(session.call(tool.name, arguments, limit), check)
        if isinstance(answer, AppTrouble):
            self._unanswered[app.slug] += 1
            if self._unanswered[app.slug] >= MOST_UNANSWERED:
                answer = replace(answer, silent=True)
            self.troubles[app.slug] = answer
            if app.required and not session.alive:  # whether it's gone for good shows at once
                again = self._session(app, check)
                return again if isinstance(again, AppTrouble) else answer
        else:
            self.called.add(app.slug)
            self._unanswered[app.slug] = 0
            self.troubles.pop(app.slug, None)
        return answer

    def list_tools(
        self, app: App, check: Callable[[], None]
    ) -> "tuple[ListedTool, ...] | AppTrouble":
        """Ask an app for all its tools."""
        session = self._session(app, check)
        return session if isinstance(session, AppTrouble) else self._wait(session.listed(), check)

    def _session(self, app: App, check: Callable[[], None]) -> McpSession | AppTrouble:
        """The session with an app; a new one when there's none, or it has broken off."""
        session = self._sessions.get(app.slug)
        if session is not None and session.alive:
            return session
        if app.server is None:
            return app.trouble or AppTrouble("It isn’t connected.")
        session = McpSession(app.server)
        trouble = self._wait(session.open(), check)
        if trouble is not None:
            self.troubles[app.slug] = trouble
            return trouble
        self._sessions[app.slug] = session
        self.opened.add(app.slug)
        return session

    def _wait(self, work: Coroutine[Any, Any, Done], check: Callable[[], None]) -> Done:
        future = asyncio.run_coroutine_threadsafe(work, self._running())
        try:
            while not concurrent.futures.wait([future], timeout=TICK).done:
                check()
        except BaseException:
            future.cancel()
            raise
        return future.result()

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._loop.set_default_executor(self._lookups)
            self._thread = threading.Thread(target=self._loop.run_forever, name="apps", daemon=True)
            self._thread.start()
        return self._loop

    async def _close(self) -> None:
        for session in self._sessions.values():
            session.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others, timeout=CLOSING)  # to say goodbye, where one has to
        for again in range(2):  # a task that is ended while it says goodbye may want it twice
            left = {task for task in others if not task.done()}
            for task in left:
                task.cancel()
            if left:
                await asyncio.wait(left, timeout=CLOSING / (again + 1))
        assert self._loop is not None
        await self._loop.shutdown_asyncgens()
