"""A stateful fake of four model APIs on loopback, with a meter of its own.

It answers from a script, counts tokens by its own rule, and bills by its own prices, so that a
test can compare what a provider would have charged with what the product believes it spent.

By hand: `python -m tests.fakes.model_provider --port N [--script FILE.json]`. Without a script it
answers cleverly enough for a walk through the product: see `clever`. A script is a list such as
`[{"text": "…"}, {"calls": [["run_command", {"command": "ls"}]]}, {"fail": 500}]`.
"""

import argparse
import json
import math
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from tests.fakes.model_wire import Answer, Format, Seen, Sent, fit, format_of


@dataclass(frozen=True)
class Fail:
    """An error status. `billed`: the work was done before it failed, and is charged."""

    status: int
    message: str = "The fake said so."
    kind: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    billed: bool = False


@dataclass(frozen=True)
class Hang:
    """No answer for so many seconds. `beats`: the stream opens, and sends comments meanwhile."""

    seconds: float = 60.0
    beats: bool = False
    billed: bool = True


@dataclass(frozen=True)
class Redirect:
    """A 307 to another address."""

    to: str


@dataclass(frozen=True)
class Garbage:
    """A 200 whose body isn't of the format."""

    body: bytes = b"data: {not json\n\n"


@dataclass(frozen=True)
class Held:
    """Another move, once `gate` has returned; it's called beside those of other requests."""

    gate: Callable[[], object]
    then: Answer


Move = Answer | Fail | Hang | Redirect | Garbage | Held
Script = Sequence[Move] | Callable[[Seen], Move]


def finish(headline: str = "All is well.", *, changed: bool = True, body: str = "") -> Answer:
    """The move that ends a turn."""
    arguments = {"changed": changed, "headline": headline, "body": body}
    return Answer(calls=(("finish", arguments),))


def call(name: str, **arguments: Any) -> Answer:
    """The move that calls one tool."""
    return Answer(calls=((name, arguments),))


@dataclass
class Meter:
    """What the provider counted and would charge. Rates are micro-dollars per million tokens.

    `bytes_per_token` is its tokenizer: one token for so many bytes of the request's body.
    `cached_share` of the input is read from its cache, `written_share` written to it.
    """

    bytes_per_token: float = 4.0
    input_rate: int = 3_000_000
    output_rate: int = 15_000_000
    cached_rate: int = 300_000
    written_rate: int = 3_750_000
    cached_share: float = 0.0
    written_share: float = 0.0
    input: int = 0
    output: int = 0
    requests: int = 0
    _millionths: int = 0

    @property
    def billed(self) -> int:
        """Micro-dollars, rounded up."""
        return -(-self._millionths // 1_000_000)

    def count(self, raw: bytes) -> tuple[int, int, int]:
        """(input, cached, written) tokens of a request's body."""
        whole = math.ceil(len(raw) / self.bytes_per_token)
        return whole, int(whole * self.cached_share), int(whole * self.written_share)

    def charge(self, whole: int, cached: int, written: int, output: int) -> None:
        """Bill one request."""
        self.requests += 1
        self.input += whole
        self.output += output
        self._millionths += (
            (whole - cached - written) * self.input_rate
            + cached * self.cached_rate
            + written * self.written_rate
            + output * self.output_rate
        )


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # a whole runner may ask at the same moment


class FakeProvider:
    """The server; a context manager. `seen` holds each request in order, `meter` the bill."""

    def __init__(self, script: Script = (), meter: Meter | None = None, port: int = 0) -> None:
        self.script = script
        self.meter = meter or Meter()
        self.seen: list[Seen] = []
        self.problems: list[Exception] = []
        self.watch: Callable[[bytes], object] = len  # is given each whole stream, before any cut
        self._lock = threading.Lock()
        self.closing = threading.Event()
        self._server = _Server(("127.0.0.1", port), _handler(self))
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop serving and end what hangs."""
        self.closing.set()
        self._server.shutdown()
        self._thread.join(timeout=5)
        self._server.server_close()

    def base_url(self, provider: str) -> str:
        """The address to give a connection of `provider`."""
        root = f"http://127.0.0.1:{self.port}"
        return f"{root}/v1" if provider.startswith("openai") else root

    def next_move(self, seen: Seen) -> tuple[Move, int]:
        """Keep a request and choose the answer to it. A script that ran out says finish."""
        with self._lock:
            self.seen.append(seen)
            number = len(self.seen)
            if callable(self.script):
                return self.script(seen), number
            if number <= len(self.script):
                return self.script[number - 1], number
            return finish() if seen.tools else Answer(text="ready"), number

    def send_of(self, answer: Answer, seen: Seen) -> Sent:
        """What an answer becomes under the request's limit, charged to the meter."""
        with self._lock:
            whole, cached, written = self.meter.count(seen.raw)
            if seen.api != "messages":
                written = 0  # the other three don't report what they write
            text, calls, output, cut = fit(
                answer, limit=seen.max_tokens, rate=self.meter.bytes_per_token
            )
            self.meter.charge(whole, cached, written, output)
        return Sent(
            text=text,
            calls=tuple(calls),
            cut=cut,
            input=whole,
            output=output,
            cached=cached,
            written=written,
            counted=answer.counted,
            thinking=min(answer.thinking, output),
            stop=answer.stop,
            refusal=answer.refusal,
            by_words=answer.pace > 0,
        )

    def charge_all(self, seen: Seen) -> None:
        """Charge a request that worked to its limit and brought no answer."""
        with self._lock:
            whole, cached, written = self.meter.count(seen.raw)
            self.meter.charge(whole, cached, written, seen.max_tokens)


def _handler(provider: FakeProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200, b'{"object": "list", "data": []}')

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            form = format_of(self.path.split("?")[0])
            if form is None:
                self._send(404, b'{"error": {"message": "There is no such address."}}')
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            try:
                seen = Seen(form.api, self.path, headers, raw, json.loads(raw))
                form.read(seen)
                move, number = provider.next_move(seen)
            except Exception as error:
                # Kept for the test to look at: a fake that can't read must not look like a 500.
                provider.problems.append(error)
                self._send(500, json.dumps(form.error(500, repr(error), "")).encode())
                return
            try:
                self._play(move, form, seen, number)
            except (BrokenPipeError, ConnectionResetError):
                return  # the other side hung up, which is its right

        def _play(self, move: Move, form: Format, seen: Seen, number: int) -> None:
            match move:
                case Held():
                    move.gate()
                    self._play(move.then, form, seen, number)
                case Fail():
                    if move.billed:
                        provider.charge_all(seen)
                    body = form.error(move.status, move.message, move.kind)
                    self._send(move.status, json.dumps(body).encode(), move.headers)
                case Redirect():
                    self._send(307, b"", {"Location": move.to})
                case Garbage():
                    self._open_stream()
                    self.wfile.write(move.body)
                case Hang():
                    if move.billed:
                        provider.charge_all(seen)
                    self._hang(move)
                case Answer():
                    sent = provider.send_of(move, seen)
                    if seen.stream and move.pace:
                        self._open_stream()
                        for event in form.events(sent, seen, number):
                            self.wfile.write(event)
                            self.wfile.flush()
                            if provider.closing.wait(move.pace):
                                return
                    elif seen.stream:
                        whole = b"".join(form.events(sent, seen, number))
                        provider.watch(whole)
                        self._open_stream()
                        end = len(whole) if move.cut_at is None else int(len(whole) * move.cut_at)
                        end = end if move.cut_byte is None else move.cut_byte
                        self.wfile.write(whole[:end])
                    else:
                        self._send(200, json.dumps(form.document(sent, seen, number)).encode())

        def _hang(self, move: Hang) -> None:
            if not move.beats:
                provider.closing.wait(move.seconds)
                return
            self._open_stream()
            for _ in range(int(move.seconds / 0.05)):
                if provider.closing.wait(0.05):
                    return
                self.wfile.write(b": still here\n\n")
                self.wfile.flush()

        def _open_stream(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True

        def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: the tests look at `seen`."""

    return Handler


# What has been fetched, merged or not; without an upstream, what is here.
_LOG = "git log -n 20 --format='%h %s'"
_NEWEST_COMMITS = f"{_LOG} '@{{u}}' 2>/dev/null || {_LOG}"


def clever(seen: Seen) -> Move:
    """A model for walks by hand: it looks at what the task is about, does one thing, and ends.

    Commits: runs `git log` and names the newest one. A file that the task names: reads it and
    quotes its first line. Anything else: finishes at once.
    """
    if not seen.tools:
        return Answer(text="ready")
    task = _instructions(seen.task)
    if "commit" in task.casefold():
        if not seen.results:
            return Answer(
                text="I'll look at the newest commits.",
                calls=(("run_command", {"command": _NEWEST_COMMITS}),),
            )
        newest = next(iter(_data_lines(seen.results[-1])), "")
        subject = newest.partition(" ")[2]
        if "exit code 0" not in seen.results[-1] or not subject:
            return finish("There are no commits to read here.", changed=False)
        return finish(f"The newest commit is “{subject}”.", body=_as_list(seen.results[-1]))
    named = re.search(r"[\w./~-]+\.(?:md|txt|csv|json|log|py|html)\b", task)
    if named or "file" in task.casefold():
        if not seen.results:
            path = named.group(0) if named else "state.md"
            return Answer(text=f"I'll read {path}.", calls=(("read_file", {"path": path}),))
        lines = _data_lines(seen.results[-1])
        if not lines:
            return finish("There was nothing to read.", changed=False)
        return finish(f"It begins: {lines[0][:120]}", body=_as_list(seen.results[-1]))
    first = task.strip().splitlines()[0] if task.strip() else "the task"
    return finish(f"Did what was asked: {first[:120]}")


def _instructions(task: str) -> str:
    after = task.partition("Instructions:\n")[2] or task
    return after.partition("\n\nWhat you remember")[0]


def _data_lines(result: str) -> list[str]:
    inside = re.search(r"<data[^>]*>\n(.*)\n</data>", result, re.DOTALL)
    return [line for line in inside.group(1).splitlines() if line.strip()] if inside else []


def _as_list(result: str) -> str:
    return "\n".join(f"- {line}" for line in _data_lines(result)[:20])


def moves_of(items: list[dict[str, Any]]) -> list[Move]:
    """A script from its JSON form. Raises ValueError for an item that is no move."""
    moves: list[Move] = []
    for item in items:
        if "fail" in item:
            moves.append(Fail(item["fail"], item.get("message", "The fake said so.")))
        elif "hang" in item:
            moves.append(Hang(float(item["hang"])))
        elif "text" in item or "calls" in item:
            calls = tuple((name, arguments) for name, arguments in item.get("calls", []))
            moves.append(Answer(text=item.get("text", ""), calls=calls))
        else:
            raise ValueError(f"Give each move text, calls, fail or hang; this has none: {item}")
    return moves


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path)
    options = parser.parse_args()
    script: Script = clever
    if options.script:
        script = moves_of(json.loads(options.script.read_text()))
    with FakeProvider(script, port=options.port) as provider:
        print(f"OpenAI-compatible address: {provider.base_url('openai')}", flush=True)
        try:
            provider.closing.wait()
        except KeyboardInterrupt:
            print(f"{len(provider.seen)} requests, {provider.meter.billed} micro-dollars")


if __name__ == "__main__":
    main()
