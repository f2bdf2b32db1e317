"""A body that is too large is refused while it arrives."""

import asyncio

from routines_app.web.body_limit import Message, Receive, Scope, Send, bounded

MB = 1024 * 1024


async def swallow(scope: Scope, receive: Receive, send: Send) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"all of it"})


def status_of(pieces: list[bytes], length: int | None) -> tuple[int, int]:
    """The status, and how many pieces were read."""
    sent: list[Message] = []
    waiting = list(pieces)

    async def receive() -> Message:
        body = waiting.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(waiting)}

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"content-length", str(length).encode())] if length is not None else []
    asyncio.run(bounded(swallow, 2 * MB)({"type": "http", "headers": headers}, receive, send))
    return sent[0]["status"], len(pieces) - len(waiting)


def test_what_fits_passes() -> None:
    assert status_of([b"x" * MB] * 2, 2 * MB) == (200, 2)


def test_a_length_that_is_told_is_refused_before_anything_is_read() -> None:
    assert status_of([b"x" * MB] * 3, 3 * MB) == (413, 0)


def test_a_length_that_isnt_told_is_counted() -> None:
    assert status_of([b"x" * MB] * 9, None) == (413, 3)


def test_a_length_that_lies_is_counted_too() -> None:
    assert status_of([b"x" * MB] * 9, 10) == (413, 3)
