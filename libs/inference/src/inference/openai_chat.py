"""Chat with any OpenAI-compatible endpoint, streamed."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import httpx2

from inference.breaker import CircuitBreaker
from inference.chat import AnswerSchema, ChatDelta, ChatMessage, Completion, Usage
from inference.errors import ProviderRejected, ProviderUnavailable, StreamCut, UnreadableReply
from inference.provider import Provider
from inference.retry import RetryPolicy
from inference.thinking import ThinkingSplitter
from inference.unicode import encodable

# What a provider may not know, and the words by which its refusal speaks of it.
_OPTIONAL = {"stream_options": ("stream_options",), "response_format": ("response_format", "json_schema", "schema")}


@dataclass(slots=True)
class _Ending:
    """What a reply reports about itself, filled in while it is read."""

    finish_reason: str | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class _Started:
    """A reply that was read up to its first delta; None if it has none."""

    response: httpx2.Response
    first: ChatDelta | None
    rest: AsyncGenerator[ChatDelta, None]
    ending: _Ending

    async def aclose(self) -> None:
        await self.rest.aclose()
        await self.response.aclose()


class OpenAIChat:
    """`POST /chat/completions` with `stream`. Retries only until the first delta of the answer."""

    def __init__(
        self,
        provider: Provider,
        model: str,
        *,
        max_tokens: int | None = None,
        retry: RetryPolicy | None = None,
        breaker: CircuitBreaker | None = None,
    ) -> None:
        """Owns `provider` and closes it. `max_tokens` is for calls that name none."""
        self.model = model
        self._provider = provider
        self._max_tokens = max_tokens
        self._retry = retry or RetryPolicy()
        self._breaker = breaker or CircuitBreaker()
        self._names: dict[str, str] = {}

    async def stream(
        self, messages: Sequence[ChatMessage], *, max_tokens: int | None = None, temperature: float = 0.2
    ) -> AsyncGenerator[ChatDelta, None]:
        body = self._body(messages, max_tokens, temperature)
        with self._breaker.call(failures=(ProviderUnavailable, StreamCut)):
            started = await self._retry.run(lambda: self._start(body))
            async with aclosing(started):
                self._breaker.answered()
                if started.first:
                    yield started.first
                async for delta in started.rest:
                    yield delta

    async def complete(
        self, messages: Sequence[ChatMessage], *, max_tokens: int | None = None, temperature: float = 0.2
    ) -> str:
        async with aclosing(self.stream(messages, max_tokens=max_tokens, temperature=temperature)) as deltas:
            return "".join([delta.text async for delta in deltas])

    async def complete_structured(
        self, messages: Sequence[ChatMessage], schema: AnswerSchema, *, max_tokens: int, temperature: float = 0.0
    ) -> Completion:
        """Requests JSON by `schema`; a provider that rejects the parameter is asked without it."""
        body = self._body(messages, max_tokens, temperature) | {
            "stream_options": {"include_usage": True},
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": schema.name, "strict": True, "schema": dict(schema.schema)},
            },
        }
        with self._breaker.call(failures=(ProviderUnavailable, StreamCut)):
            started = await self._retry.run(lambda: self._start(body))
            async with aclosing(started):
                self._breaker.answered()
                text = [started.first.text if started.first else ""]
                text += [delta.text async for delta in started.rest]
        return Completion("".join(text), started.ending.usage, started.ending.finish_reason == "length")

    async def list_models(self) -> list[str]:
        with self._breaker.call(failures=ProviderUnavailable):
            reply = await self._retry.run(lambda: self._provider.get("/models"))
        try:
            return [str(item["id"]) for item in reply["data"]]
        except (KeyError, TypeError):
            raise UnreadableReply("no list of models") from None

    async def aclose(self) -> None:
        await self._provider.aclose()

    def _body(self, messages: Sequence[ChatMessage], max_tokens: int | None, temperature: float) -> dict[str, Any]:
        return {
            "model": self.model,
            "messages": [{"role": message.role, "content": encodable(message.content)} for message in messages],
            "temperature": temperature,
            "max_tokens": max_tokens or self._max_tokens,
            "stream": True,
        }

    async def _start(self, body: dict[str, Any]) -> _Started:
        sent = self._accepted(body)
        try:
            response = await self._provider.stream("/chat/completions", sent)
        except ProviderRejected as refusal:
            self._learn(refusal)
            if self._accepted(body) == sent:
                raise
            return await self._start(body)
        ending = _Ending()
        deltas = self._deltas(response, ending)
        try:
            return _Started(response, await anext(deltas, None), deltas, ending)
        except BaseException:
            await response.aclose()
            raise

    def _accepted(self, body: dict[str, Any]) -> dict[str, Any]:
        """Returns `body` under the names that this provider accepts, without unset values."""
        named = {self._names.get(name, name): value for name, value in body.items() if value is not None}
        named.pop("", None)
        return named

    def _learn(self, refusal: ProviderRejected) -> None:
        """Remembers what a provider rejects: another name for `max_tokens`, no temperature, no schema."""
        if refusal.status in {400, 422}:
            for name, words in _OPTIONAL.items():
                if any(word in refusal.detail.lower() for word in words):
                    self._names[name] = ""
        if refusal.status == 400 and "unsupported" in refusal.detail.lower():
            if "max_completion_tokens" in refusal.detail:
                self._names["max_tokens"] = "max_completion_tokens"
            elif "temperature" in refusal.detail:
                self._names["temperature"] = ""

    async def _deltas(self, response: httpx2.Response, ending: _Ending) -> AsyncGenerator[ChatDelta, None]:
        splitter = ThinkingSplitter()
        async with aclosing(self._choices(response, ending)) as choices:
            async for choice in choices:
                delta = _part(choice, "delta")
                if thinking := _text(delta, "reasoning_content") or _text(delta, "reasoning"):
                    yield ChatDelta(thinking=thinking)
                for split in splitter.feed(_text(delta, "content")):
                    yield split
        for split in splitter.end():
            yield split

    async def _choices(self, response: httpx2.Response, ending: _Ending) -> AsyncGenerator[dict[str, Any], None]:
        """Yields the first choice of each event up to `[DONE]`. Raises StreamCut if the end was not announced."""
        try:
            with self._provider.errors():
                async for event in httpx2.EventSource(response):
                    if event.data.strip() == "[DONE]":
                        return
                    for choice in self._read(event.data, ending):
                        ending.finish_reason = ending.finish_reason or choice.get("finish_reason")
                        yield choice
        except ProviderUnavailable as error:
            # After the finish reason only statistics follow: the answer is complete.
            if not ending.finish_reason:
                raise StreamCut(error.detail) from error
        if not ending.finish_reason:
            raise StreamCut

    def _read(self, data: str, ending: _Ending) -> list[dict[str, Any]]:
        if not data:
            return []
        try:
            event = json.loads(data)
        except ValueError:
            raise UnreadableReply("an event is not JSON") from None
        if not isinstance(event, dict):
            raise UnreadableReply("an event is not an object")
        if error := event.get("error"):
            code = error.get("code") if isinstance(error, dict) else None
            raise self._provider.failure(code if isinstance(code, int) else 500, event)
        ending.usage = _usage(event) or ending.usage
        choices = event.get("choices") or []
        if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
            raise UnreadableReply("an event's choices are not a list of objects")
        return choices[:1]


def _part(choice: dict[str, Any], name: str) -> dict[str, Any]:
    part = choice.get(name) or {}
    if not isinstance(part, dict):
        raise UnreadableReply(f"{name} is not an object")
    return part


def _text(delta: dict[str, Any], name: str) -> str:
    text = delta.get(name) or ""
    if not isinstance(text, str):
        raise UnreadableReply(f"{name} is not a text")
    return text


def _usage(event: dict[str, Any]) -> Usage | None:
    usage = event.get("usage")
    if not isinstance(usage, dict):
        return None
    counts = [usage.get("prompt_tokens"), usage.get("completion_tokens")]
    read = [count for count in counts if isinstance(count, int) and not isinstance(count, bool) and count >= 0]
    return Usage(*read) if len(read) == len(counts) else None
