"""The wire formats of four model APIs, as their providers document them, for the fake provider.

Each format reads a request into `Seen` fields and writes an answer as server-sent events or, for
a request that doesn't stream, as one document.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """An answer to give: text, then tool calls as (name, arguments).

    `thinking` is tokens of output that aren't shown. `counted` False leaves the usage out.
    `cut_at` ends the stream after that share of its bytes, cleanly; `cut_byte` after so many of
    them. `refusal` is a text by which OpenAI's models decline, in place of one. `pace` is seconds
    between the events of its stream, whose text then comes word by word.
    """

    text: str = ""
    calls: tuple[tuple[str, Json], ...] = ()
    thinking: int = 0
    counted: bool = True
    cut_at: float | None = None
    stop: str = ""
    cut_byte: int | None = None
    refusal: str = ""
    pace: float = 0.0


@dataclass(frozen=True)
class Sent:
    """What an answer became under the request's limit: raw argument texts, maybe cut."""

    text: str
    calls: tuple[tuple[str, str], ...]
    cut: bool
    input: int
    output: int
    cached: int
    written: int
    counted: bool
    thinking: int = 0
    stop: str = ""
    refusal: str = ""
    by_words: bool = False

    @property
    def pieces(self) -> list[str]:
        """The text as its stream brings it."""
        return re.findall(r"\S+\s*|\s+", self.text) if self.by_words else [self.text]


@dataclass
class Seen:
    """One request as the provider got it."""

    api: str
    path: str
    headers: dict[str, str]
    raw: bytes
    body: Json
    model: str = ""
    max_tokens: int = 0
    stream: bool = False
    tools: tuple[str, ...] = ()
    task: str = ""
    results: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Every text in the request, one to a line."""
        return "\n".join(_strings(self.body))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def fit(answer: Answer, *, limit: int, rate: float) -> tuple[str, list[tuple[str, str]], int, bool]:
    """(text, calls, output tokens, cut) of an answer under a limit of `limit` output tokens."""
    room = max(limit - answer.thinking, 0) if limit else 1_000_000_000
    text, room, cut = _take(answer.text, room, rate)
    calls: list[tuple[str, str]] = []
    for name, arguments in answer.calls:
        if cut or room <= 0:
            cut = True
            break
        raw, room, cut = _take(json.dumps(arguments), room, rate)
        calls.append((name, raw))
    size = len(text.encode()) + sum(len(raw.encode()) for _, raw in calls)
    output = min(answer.thinking + math.ceil(size / rate) + len(calls), limit or 1_000_000_000)
    return text, calls, max(output, 1), cut or bool(limit and answer.thinking >= limit)


def _take(text: str, room: int, rate: float) -> tuple[str, int, bool]:
    data = text.encode()
    most = int(room * rate)
    if len(data) <= most:
        return text, room - math.ceil(len(data) / rate), False
    return data[:most].decode(errors="ignore"), 0, True


class AnthropicMessages:
    """POST /v1/messages"""

    api = "messages"

    def read(self, seen: Seen) -> None:
        body = seen.body
        seen.model, seen.max_tokens = body["model"], body["max_tokens"]
        seen.stream = bool(body.get("stream"))
        seen.tools = tuple(tool["name"] for tool in body.get("tools", []))
        for message in body["messages"]:
            content = message["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            for block in blocks:
                if block["type"] == "text" and message["role"] == "user" and not seen.task:
                    seen.task = block["text"]
                if block["type"] == "tool_result":
                    seen.results.append("\n".join(_strings(block["content"])))

    def _blocks(self, sent: Sent, number: int) -> list[tuple[Json, Json]]:
        blocks: list[tuple[Json, Json]] = []
        if sent.text:
            delta = {"type": "text_delta", "text": sent.text}
            blocks.append(({"type": "text", "text": ""}, delta))
        for index, (name, raw) in enumerate(sent.calls):
            start = {"type": "tool_use", "id": f"toolu_{number}_{index}", "name": name, "input": {}}
            blocks.append((start, {"type": "input_json_delta", "partial_json": raw}))
        return blocks

    def _usage(self, sent: Sent, output: int) -> Json:
        return {
            "input_tokens": sent.input - sent.cached - sent.written,
            "cache_read_input_tokens": sent.cached,
            "cache_creation_input_tokens": sent.written,
            "output_tokens": output,
        }

    def _stop(self, sent: Sent) -> str:
        if sent.cut:
            return "max_tokens"
        return sent.stop or ("tool_use" if sent.calls else "end_turn")

    def _message(self, seen: Seen, number: int) -> Json:
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": seen.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
        }

    def events(self, sent: Sent, seen: Seen, number: int) -> Iterator[bytes]:
        message = self._message(seen, number)
        message["usage"] = self._usage(sent, 1) if sent.counted else _no_anthropic_usage()
        yield _event("message_start", {"message": message})
        yield _event("ping", {})
        for index, (start, delta) in enumerate(self._blocks(sent, number)):
            yield _event("content_block_start", {"index": index, "content_block": start})
            for piece in sent.pieces if start["type"] == "text" else [""]:
                said = {**delta, "text": piece} if piece else delta
                yield _event("content_block_delta", {"index": index, "delta": said})
            yield _event("content_block_stop", {"index": index})
        usage = {"output_tokens": sent.output} if sent.counted else _no_anthropic_usage()
        delta = {"stop_reason": self._stop(sent), "stop_sequence": None}
        yield _event("message_delta", {"delta": delta, "usage": usage})
        yield _event("message_stop", {})

    def document(self, sent: Sent, seen: Seen, number: int) -> Json:
        content: list[Json] = [{"type": "text", "text": sent.text}] if sent.text else []
        for index, (name, raw) in enumerate(sent.calls):
            content.append(
                {
                    "type": "tool_use",
                    "id": f"toolu_{number}_{index}",
                    "name": name,
                    "input": json.loads(raw),
                }
            )
        usage = self._usage(sent, sent.output)
        more = {"content": content, "stop_reason": self._stop(sent), "usage": usage}
        return {**self._message(seen, number), **more}

    def error(self, status: int, message: str, kind: str) -> Json:
        kinds = {
            400: "invalid_request_error",
            401: "authentication_error",
            429: "rate_limit_error",
            500: "api_error",
            529: "overloaded_error",
        }
        problem = {"type": kind or kinds.get(status, "api_error"), "message": message}
        return {"type": "error", "error": problem}


def _no_anthropic_usage() -> Json:
    return {"input_tokens": 0, "output_tokens": 0}


class OpenAIChat:
    """POST /v1/chat/completions"""

    api = "chat"

    def read(self, seen: Seen) -> None:
        body = seen.body
        seen.model, seen.stream = body["model"], bool(body.get("stream"))
        seen.max_tokens = body.get("max_completion_tokens") or body.get("max_tokens") or 0
        seen.tools = tuple(tool["function"]["name"] for tool in body.get("tools", []))
        for message in body["messages"]:
            text = "\n".join(_strings(message.get("content")))
            if message["role"] == "user" and not seen.task:
                seen.task = text
            if message["role"] == "tool":
                seen.results.append(text)

    def _calls(self, sent: Sent, number: int) -> list[Json]:
        return [
            {
                "index": index,
                "id": f"call_{number}_{index}",
                "type": "function",
                "function": {"name": name, "arguments": raw},
            }
            for index, (name, raw) in enumerate(sent.calls)
        ]

    def _usage(self, sent: Sent) -> Json:
        return {
            "prompt_tokens": sent.input,
            "completion_tokens": sent.output,
            "total_tokens": sent.input + sent.output,
            "prompt_tokens_details": {"cached_tokens": sent.cached},
        }

    def _stop(self, sent: Sent) -> str:
        if sent.cut:
            return "length"
        return sent.stop or ("tool_calls" if sent.calls else "stop")

    def events(self, sent: Sent, seen: Seen, number: int) -> Iterator[bytes]:
        def chunk(delta: Json, stop: str | None = None) -> bytes:
            choice = {"index": 0, "delta": delta, "finish_reason": stop}
            return _data(self._envelope(seen, number, "chat.completion.chunk", [choice]))

        yield chunk({"role": "assistant", "content": ""})
        for piece in sent.pieces if sent.text else []:
            yield chunk({"content": piece})
        if sent.refusal:
            yield chunk({"refusal": sent.refusal})
        for call in self._calls(sent, number):
            yield chunk({"tool_calls": [call]})
        yield chunk({}, self._stop(sent))
        wanted = (seen.body.get("stream_options") or {}).get("include_usage")
        if sent.counted and wanted:
            last = self._envelope(seen, number, "chat.completion.chunk", [])
            yield _data({**last, "usage": self._usage(sent)})
        yield b"data: [DONE]\n\n"

    def _envelope(self, seen: Seen, number: int, kind: str, choices: list[Json]) -> Json:
        return {
            "id": f"chatcmpl-{number}",
            "object": kind,
            "created": 1_790_000_000,
            "model": seen.model,
            "choices": choices,
        }

    def document(self, sent: Sent, seen: Seen, number: int) -> Json:
        message: Json = {"role": "assistant", "content": sent.text or None}
        if sent.calls:
            message["tool_calls"] = self._calls(sent, number)
        choice = {"index": 0, "message": message, "finish_reason": self._stop(sent)}
        whole = self._envelope(seen, number, "chat.completion", [choice])
        return {**whole, "usage": self._usage(sent)} if sent.counted else whole

    def error(self, status: int, message: str, kind: str) -> Json:
        kinds = {400: "invalid_request_error", 429: "rate_limit_exceeded", 500: "server_error"}
        code = kind or kinds.get(status)
        return {"error": {"message": message, "type": code, "code": code, "param": None}}


class OpenAIResponses:
    """POST /v1/responses"""

    api = "responses"

    def read(self, seen: Seen) -> None:
        body = seen.body
        seen.model, seen.stream = body["model"], bool(body.get("stream"))
        seen.max_tokens = body.get("max_output_tokens") or 0
        seen.tools = tuple(tool["name"] for tool in body.get("tools", []))
        items = body["input"]
        for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
            if item.get("role") == "user" and not seen.task:
                content = item["content"]
                seen.task = content if isinstance(content, str) else content[0]["text"]
            if item.get("type") == "function_call_output":
                seen.results.append("\n".join(_strings(item["output"])))

    def _items(self, sent: Sent, number: int) -> list[Json]:
        items: list[Json] = []
        if sent.text:
            content = [{"type": "output_text", "text": sent.text, "annotations": []}]
            items.append(
                {
                    "type": "message",
                    "id": f"msg_{number}",
                    "role": "assistant",
                    "status": "completed",
                    "content": content,
                }
            )
        for index, (name, raw) in enumerate(sent.calls):
            items.append(
                {
                    "type": "function_call",
                    "id": f"fc_{number}_{index}",
                    "call_id": f"call_{number}_{index}",
                    "name": name,
                    "arguments": raw,
                    "status": "completed",
                }
            )
        return items

    def _response(self, seen: Seen, number: int, status: str, output: list[Json]) -> Json:
        return {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": 1_790_000_000,
            "status": status,
            "model": seen.model,
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"}
            if status == "incomplete"
            else None,
        }

    def document(self, sent: Sent, seen: Seen, number: int) -> Json:
        status = "incomplete" if sent.cut else "completed"
        whole = self._response(seen, number, status, self._items(sent, number))
        if sent.counted:
            whole["usage"] = {
                "input_tokens": sent.input,
                "input_tokens_details": {"cached_tokens": sent.cached},
                "output_tokens": sent.output,
                "output_tokens_details": {"reasoning_tokens": sent.thinking},
                "total_tokens": sent.input + sent.output,
            }
        return whole

    def events(self, sent: Sent, seen: Seen, number: int) -> Iterator[bytes]:
        count = 0

        def event(kind: str, **more: Any) -> bytes:
            nonlocal count
            count += 1
            return _event(kind, {"sequence_number": count, **more})

        started = self._response(seen, number, "in_progress", [])
        yield event("response.created", response=started)
        if sent.refusal:
            where = {"output_index": 0, "item_id": f"msg_{number}", "content_index": 0}
            yield event("response.refusal.delta", **where, delta=sent.refusal)
            yield event("response.refusal.done", **where, refusal=sent.refusal)
        for place, item in enumerate(self._items(sent, number)):
            where = {"output_index": place, "item_id": item["id"]}
            if item["type"] == "message":
                text = item["content"][0]
                empty = {**text, "text": ""}
                opened = {**item, "content": [], "status": "in_progress"}
                yield event("response.output_item.added", output_index=place, item=opened)
                yield event("response.content_part.added", **where, content_index=0, part=empty)
                for piece in sent.pieces:
                    yield event(
                        "response.output_text.delta",
                        **where,
                        content_index=0,
                        delta=piece,
                        logprobs=[],
                    )
                yield event(
                    "response.output_text.done",
                    **where,
                    content_index=0,
                    text=text["text"],
                    logprobs=[],
                )
                yield event("response.content_part.done", **where, content_index=0, part=text)
            else:
                opened = {**item, "arguments": "", "status": "in_progress"}
                raw = item["arguments"]
                yield event("response.output_item.added", output_index=place, item=opened)
                yield event("response.function_call_arguments.delta", **where, delta=raw)
                yield event(
                    "response.function_call_arguments.done",
                    **where,
                    name=item["name"],
                    arguments=raw,
                )
            yield event("response.output_item.done", output_index=place, item=item)
        kind = "response.incomplete" if sent.cut else "response.completed"
        yield event(kind, response=self.document(sent, seen, number))

    def error(self, status: int, message: str, kind: str) -> Json:
        return OpenAIChat().error(status, message, kind)


class GoogleGenerate:
    """POST /v1beta/models/{model}:generateContent and :streamGenerateContent"""

    api = "google"

    def read(self, seen: Seen) -> None:
        body = seen.body
        seen.model = seen.path.split("/models/")[1].split(":")[0]
        seen.stream = ":streamGenerateContent" in seen.path
        seen.max_tokens = body.get("generationConfig", {}).get("maxOutputTokens", 0)
        declared = [tool.get("functionDeclarations", []) for tool in body.get("tools", [])]
        seen.tools = tuple(each["name"] for group in declared for each in group)
        for content in body["contents"]:
            for part in content["parts"]:
                if "text" in part and content.get("role") == "user" and not seen.task:
                    seen.task = part["text"]
                if "functionResponse" in part:
                    response = part["functionResponse"]["response"]
                    seen.results.append("\n".join(_strings(response)))

    def _parts(self, sent: Sent) -> list[Json]:
        parts: list[Json] = [{"text": sent.text}] if sent.text else []
        for name, raw in sent.calls:
            try:
                arguments = json.loads(raw)
            except ValueError:
                continue  # a call that the limit cut isn't sent at all
            parts.append({"functionCall": {"name": name, "args": arguments}})
        return parts

    def document(self, sent: Sent, seen: Seen, number: int) -> Json:
        stop = "MAX_TOKENS" if sent.cut else (sent.stop or "STOP")
        content = {"role": "model", "parts": self._parts(sent)}
        whole: Json = {
            "candidates": [{"content": content, "finishReason": stop, "index": 0}],
            "modelVersion": seen.model,
            "responseId": f"r{number}",
        }
        if sent.counted:
            whole["usageMetadata"] = {
                "promptTokenCount": sent.input,
                "cachedContentTokenCount": sent.cached,
                "candidatesTokenCount": sent.output - sent.thinking,
                "thoughtsTokenCount": sent.thinking,
                "totalTokenCount": sent.input + sent.output,
            }
        return whole

    def events(self, sent: Sent, seen: Seen, number: int) -> Iterator[bytes]:
        whole = self.document(sent, seen, number)
        candidate = whole["candidates"][0]
        parts = candidate["content"]["parts"]
        if sent.by_words and parts and "text" in parts[0]:
            parts[:1] = [{"text": piece} for piece in sent.pieces]
        for part in parts:
            content = {"role": "model", "parts": [part]}
            piece = {"candidates": [{"content": content, "index": 0}]}
            yield _data({**piece, "modelVersion": seen.model, "responseId": f"r{number}"})
        candidate["content"] = {"role": "model", "parts": [{"text": ""}]}
        yield _data(whole)

    def error(self, status: int, message: str, kind: str) -> Json:
        names = {
            400: "INVALID_ARGUMENT",
            401: "UNAUTHENTICATED",
            403: "PERMISSION_DENIED",
            404: "NOT_FOUND",
            429: "RESOURCE_EXHAUSTED",
            503: "UNAVAILABLE",
            529: "UNAVAILABLE",
        }
        # Google's table has no other 4xx; INTERNAL and its kin are its names for 5xx alone.
        name = kind or names.get(status, "INVALID_ARGUMENT" if status < 500 else "INTERNAL")
        return {"error": {"code": status, "message": message, "status": name}}


Format = AnthropicMessages | OpenAIChat | OpenAIResponses | GoogleGenerate


def format_of(path: str) -> Format | None:
    """The wire format that a path speaks; None: no such address."""
    if path.endswith("/v1/messages"):
        return AnthropicMessages()
    if path.endswith("/chat/completions"):
        return OpenAIChat()
    if path.endswith("/responses"):
        return OpenAIResponses()
    if "/models/" in path and "enerateContent" in path:
        return GoogleGenerate()
    return None


def _event(name: str, data: Json) -> bytes:
    return f"event: {name}\n".encode() + _data({"type": name, **data})


def _data(data: Json) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"
