"""Reading one public page by GET: judged, pinned, bounded in bytes and in time.

Each address, and each redirect's, is judged by the rule for addresses; the connection then goes to
one of exactly the numbers that were judged. No cookie, key or proxy of this process goes along.
It's done on a thread of its own, so that Stop needn't wait for a name server or a slow page.
"""

import asyncio
import threading
import zlib
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar
from urllib.parse import quote, urldefrag, urljoin

from foundation import clock
from foundation.addresses import Refused, ResolvedAddress
from routines_app.agents.guarded import Judge, guarded_transport
from routines_app.agents.providers import trusted

if TYPE_CHECKING:
    import httpx2

Read = TypeVar("Read")

MOST_BYTES = 1_000_000  # of a page, unpacked; what follows isn't read
FETCH_SECONDS = 30.0
SILENCE = 15.0  # seconds without a byte
REDIRECTS = 5
TICK = 0.25  # seconds between looks at whether the turn has to end
_HEADERS = {
    "User-Agent": "Routines fetch_url",
    "Accept": "text/html, text/plain, application/json, */*;q=0.5",
    "Accept-Encoding": "gzip",
}
# Whatever a browser would send escaped.
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))


@dataclass(frozen=True)
class Page:
    """What an address answered: `url` after its redirects, `kind` as its header has it."""

    url: str
    status: int
    kind: str
    body: bytes
    whole: bool


@dataclass(frozen=True)
class NotFetched:
    """It wasn't read; `sentence` says why and what to do."""

    sentence: str


def fetch(
    url: str,
    judge: Judge,
    tick: Callable[[], None],
    read: Callable[[Page], Read],
    *,
    seconds: float = FETCH_SECONDS,
) -> Read | NotFetched:
    """GET one address in at most `seconds` and `read` what it answered, calling `tick` meanwhile.

    What `tick` raises breaks it off within a moment and passes through, as does what `read` raises.
    """
    work = _Fetch(url, judge, read, max(min(seconds, FETCH_SECONDS), 0.1))
    work.start()
    try:
        while not wait_for([work.answer], timeout=TICK).done:
            tick()
    except BaseException:
        work.give_up()
        raise
    return work.answer.result()


class _Fetch(threading.Thread, Generic[Read]):
    """One fetch with an event loop of its own. Whoever gave up doesn't wait for its end, which a
    name server may hold back."""

    def __init__(
        self, url: str, judge: Judge, read: Callable[[Page], Read], seconds: float
    ) -> None:
        super().__init__(name="fetch", daemon=True)
        self.answer: Future[Read | NotFetched] = Future()
        self._url, self._judge, self._read, self._seconds = url, judge, read, seconds
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[Page | NotFetched] | None = None
        self._given_up = False

    def run(self) -> None:
        try:
            self._task = self._loop.create_task(self._bounded())
            if self._given_up:
                self._task.cancel()
            found = self._loop.run_until_complete(self._task)
            self.answer.set_result(self._read(found) if isinstance(found, Page) else found)
        except asyncio.CancelledError:
            self.answer.cancel()
        except BaseException as error:
            self.answer.set_exception(error)
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    def give_up(self) -> None:
        self._given_up = True
        if self._task is not None:
            with suppress(RuntimeError):  # it ended just now, and its loop with it
                self._loop.call_soon_threadsafe(self._task.cancel)

    async def _bounded(self) -> Page | NotFetched:
        ends_at = clock.monotonic() + self._seconds
        try:
            async with asyncio.timeout(self._seconds):
                return await _follow(self._url, self._judge, ends_at)
        except TimeoutError:
            return NotFetched(f"It didn't answer within {self._seconds:.0f} seconds.")


async def _follow(url: str, judge: Judge, ends_at: float) -> Page | NotFetched:
    import httpx2

    refused: list[str] = []

    def judged(address: str) -> ResolvedAddress | Refused:
        found = judge(address)
        if isinstance(found, Refused):
            refused.append(found.sentence)
        return found

    limits = httpx2.Timeout(SILENCE, connect=10.0)
    async with httpx2.AsyncClient(
        transport=guarded_transport(trusted(), judged),
        timeout=limits,
        follow_redirects=False,
        trust_env=False,
        headers=_HEADERS,
    ) as client:
        for _ in range(REDIRECTS + 1):
            url = quote(urldefrag(url).url, safe=_PRINTABLE)
            found = await asyncio.to_thread(judge, url)
            if isinstance(found, Refused):
                return NotFetched(found.sentence)
            try:
                async with client.stream("GET", url) as response:
                    if response.is_redirect and response.headers.get("location"):
                        url = urljoin(url, response.headers["location"])
                        client.cookies.clear()
                        continue
                    return await _read(url, response)
            except (httpx2.HTTPError, httpx2.InvalidURL, zlib.error) as error:
                return NotFetched(refused[-1] if refused else _sentence(error))
    return NotFetched(f"It led on more than {REDIRECTS} times, so it wasn't followed further.")


async def _read(url: str, response: "httpx2.Response") -> Page:
    """The answer's body, unpacked here: a library would unpack a bomb whole."""
    packed = response.headers.get("content-encoding", "").strip().lower()
    unpack = zlib.decompressobj(wbits=47) if packed in ("gzip", "x-gzip", "deflate") else None
    body, whole = bytearray(), True
    async for chunk in response.aiter_raw():
        left = MOST_BYTES - len(body)
        body += unpack.decompress(chunk, left + 1) if unpack else chunk[: left + 1]
        if len(body) > MOST_BYTES:
            del body[MOST_BYTES:]
            whole = False
            break
    kind = response.headers.get("content-type", "")
    return Page(url, response.status_code, kind, bytes(body), whole)


def _sentence(error: Exception) -> str:
    """What went wrong, in words of ours: a library's may quote what the other side sent."""
    import httpx2

    match error:
        case httpx2.TimeoutException():
            return "It was silent for too long. Try again later, or another address."
        case httpx2.ConnectError() if "CERTIFICATE" in str(error):
            return "Its certificate can't be trusted, so nothing was asked of it."
        case httpx2.ConnectError():
            return "No connection to it could be made. Check the address, or try again later."
        case _:
            return "What it answered can't be read. Try another address."
