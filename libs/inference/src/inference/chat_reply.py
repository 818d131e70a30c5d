"""Reads the event stream of one chat completion."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import httpx2

from inference.chat import ChatDelta, ToolCallDelta, Usage
from inference.errors import ProviderSilent, ProviderUnavailable, StreamCut, UnreadableReply
from inference.provider import Provider
from inference.thinking import ThinkingSplitter


@dataclass(slots=True)
class ChatReply:
    """One reply. `finish_reason` and `usage` are set once it has been read to the end."""

    provider: Provider
    response: httpx2.Response
    finish_reason: str | None = None
    usage: Usage | None = None
    first: ChatDelta | None = None
    _rest: AsyncGenerator[ChatDelta, None] = field(init=False)

    def __post_init__(self) -> None:
        self._rest = self._deltas()

    async def start(self) -> None:
        """Reads up to the first delta; None if there is none. Closes the reply on an error.

        Raises ProviderSilent if the provider sent nothing until its timeout, as nothing was cut off.
        """
        try:
            self.first = await anext(self._rest, None)
        except StreamCut as error:
            await self.response.aclose()
            if isinstance(error.__cause__, ProviderSilent):
                raise error.__cause__ from None
            raise
        except BaseException:
            await self.response.aclose()
            raise

    async def deltas(self) -> AsyncGenerator[ChatDelta, None]:
        """Yields all deltas. Raises StreamCut if the end was not announced."""
        if self.first:
            yield self.first
        async for delta in self._rest:
            yield delta

    async def aclose(self) -> None:
        await self._rest.aclose()
        await self.response.aclose()

    async def _deltas(self) -> AsyncGenerator[ChatDelta, None]:
        splitter = ThinkingSplitter()
        async with aclosing(self._choices()) as choices:
            async for choice in choices:
                delta = _part(choice, "delta")
                if thinking := _text(delta, "reasoning_content") or _text(delta, "reasoning"):
                    yield ChatDelta(thinking=thinking)
                for split in splitter.feed(_text(delta, "content")):
                    yield split
                if calls := _tool_calls(delta):
                    yield ChatDelta(tool_calls=calls)
        for split in splitter.end():
            yield split
        if self.finish_reason or self.usage:
            yield ChatDelta(finish_reason=self.finish_reason, usage=self.usage)

    async def _choices(self) -> AsyncGenerator[dict[str, Any], None]:
        """Yields the first choice of each event up to `[DONE]`. Raises StreamCut if the end was not announced."""
        try:
            with self.provider.errors():
                async for event in httpx2.EventSource(self.response):
                    if event.data.strip() == "[DONE]":
                        return
                    for choice in self._read(event.data):
                        reason = choice.get("finish_reason")
                        self.finish_reason = self.finish_reason or (reason if isinstance(reason, str) else None)
                        yield choice
        except ProviderUnavailable as error:
            # After the finish reason only statistics follow: the answer is complete.
            if not self.finish_reason:
                raise StreamCut(error.detail) from error
        if not self.finish_reason:
            raise StreamCut

    def _read(self, data: str) -> list[dict[str, Any]]:
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
            raise self.provider.failure(code if isinstance(code, int) else 500, event)
        self.usage = read_usage(event) or self.usage
        choices = event.get("choices") or []
        if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
            raise UnreadableReply("an event's choices are not a list of objects")
        return choices[:1]


def read_usage(event: dict[str, Any]) -> Usage | None:
    """Returns the token usage in an event, None if it does not have both counts."""
    usage = event.get("usage")
    if not isinstance(usage, dict):
        return None
    counts = [_count(usage, "prompt_tokens"), _count(usage, "completion_tokens")]
    read, written = counts
    if read is None or written is None:
        return None
    cost = usage.get("cost")
    return Usage(
        read,
        written,
        min(read, _count(usage.get("prompt_tokens_details"), "cached_tokens") or 0),
        min(written, _count(usage.get("completion_tokens_details"), "reasoning_tokens") or 0),
        # A negative price would increase the balance.
        float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < 1e9 else None,
    )


def _count(usage: Any, name: str) -> int | None:
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 2**31 else None


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


def _tool_calls(delta: dict[str, Any]) -> tuple[ToolCallDelta, ...]:
    calls = delta.get("tool_calls") or []
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        raise UnreadableReply("tool_calls is not a list of objects")
    return tuple(_tool_call(call, place) for place, call in enumerate(calls))


def _tool_call(call: dict[str, Any], place: int) -> ToolCallDelta:
    index = call.get("index")
    function = _part(call, "function")
    return ToolCallDelta(
        index if isinstance(index, int) and index >= 0 else place,
        _text(call, "id"),
        _text(function, "name"),
        _text(function, "arguments"),
    )
