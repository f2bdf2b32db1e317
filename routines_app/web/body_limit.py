"""The most that a request may carry, judged while it arrives: nothing larger reaches the disk."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

Message = Mapping[str, Any]
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class TooMuch(Exception):
    """More came than may."""


def bounded(application: Application, limit: int) -> Application:
    """An ASGI application that answers 413 to a body of more than `limit` bytes.

    A length that is told is believed before anything is read; one that isn't is counted.
    """
    words = f"That is more than {limit // (1024 * 1024)} MB. Send smaller files, or fewer at once."

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await application(scope, receive, send)
            return
        told = dict(scope["headers"]).get(b"content-length", b"0")
        if told.isdigit() and int(told) > limit:
            await _refuse(send, words)
            return
        came, answered = 0, False

        async def counted() -> Message:
            nonlocal came
            message = await receive()
            came += len(message.get("body", b""))
            if came > limit:
                raise TooMuch
            return message

        async def noted(message: Message) -> None:
            nonlocal answered
            answered = True
            await send(message)

        try:
            await application(scope, counted, noted)
        except TooMuch:
            if not answered:
                await _refuse(send, words)

    return answer


async def _refuse(send: Send, words: str) -> None:
    body = words.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
