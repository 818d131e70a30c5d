"""Chat with any OpenAI-compatible endpoint, streamed."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from inference.chat import AnswerSchema, ChatDelta, ChatMessage, Completion, Tool, Usage
from inference.chat_body import messages_body, response_format, tools_body
from inference.chat_reply import ChatReply
from inference.endpoints import Endpoint
from inference.errors import ProviderRejected, ProviderUnavailable, StreamCut
from inference.retry import RetryPolicy


class OpenAIChat:
    """`POST /chat/completions` with `stream`. Retries only until the first delta of the answer."""

    def __init__(
        self, endpoint: Endpoint, model: str, *, max_tokens: int | None = None, retry: RetryPolicy | None = None
    ) -> None:
        """`max_tokens` applies to calls that set none."""
        self.model, self.endpoint, self.max_tokens = model, endpoint, max_tokens
        self._retry = retry or RetryPolicy()
        self._refusals = endpoint.refusals(model)

    async def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int | None = None,
        temperature: float = 0.2,
        tools: Sequence[Tool] = (),
    ) -> AsyncGenerator[ChatDelta, None]:
        body = self._body(messages, max_tokens, temperature) | {"tools": tools_body(tools)}
        async with aclosing(self._streamed(body)) as deltas:
            async for delta in deltas:
                yield delta

    async def complete(
        self, messages: Sequence[ChatMessage], *, max_tokens: int | None = None, temperature: float = 0.2
    ) -> str:
        async with aclosing(self.stream(messages, max_tokens=max_tokens, temperature=temperature)) as deltas:
            return "".join([delta.text async for delta in deltas])

    async def stream_structured(
        self,
        messages: Sequence[ChatMessage],
        schema: AnswerSchema,
        *,
        max_tokens: int | None = None,
        temperature: float = 0.0,
    ) -> AsyncGenerator[ChatDelta, None]:
        """Requests JSON by `schema`; if the provider rejects the parameter, asks again without it."""
        body = self._body(messages, max_tokens, temperature) | {"response_format": response_format(schema)}
        async with aclosing(self._streamed(body)) as deltas:
            async for delta in deltas:
                yield delta

    async def complete_structured(
        self, messages: Sequence[ChatMessage], schema: AnswerSchema, *, max_tokens: int, temperature: float = 0.0
    ) -> Completion:
        structured = self.stream_structured(messages, schema, max_tokens=max_tokens, temperature=temperature)
        async with aclosing(structured) as deltas:
            return await completion(deltas)

    async def list_models(self) -> list[str]:
        """Returns the names of the provider's models. Raises ChatError."""
        return await self._retry.run(self.endpoint.list_models)

    async def aclose(self) -> None:
        """Closes the endpoint, if it was opened only for this model."""
        await self.endpoint.aclose()

    async def _streamed(self, body: dict[str, Any]) -> AsyncGenerator[ChatDelta, None]:
        with self.endpoint.breaker.call(failures=(ProviderUnavailable, StreamCut)):
            reply = await self._retry.run(lambda: self._start(body))
            async with aclosing(reply), aclosing(reply.deltas()) as deltas:
                self.endpoint.breaker.answered()
                async for delta in deltas:
                    yield delta

    def _body(self, messages: Sequence[ChatMessage], max_tokens: int | None, temperature: float) -> dict[str, Any]:
        return {
            "model": self.model,
            "messages": messages_body(messages),
            "temperature": temperature,
            "max_tokens": max_tokens or self.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }

    async def _start(self, body: dict[str, Any]) -> ChatReply:
        sent = self._refusals.accepted(body)
        try:
            response = await self.endpoint.provider.stream("/chat/completions", sent)
        except ProviderRejected as refusal:
            self._refusals.learn(refusal, sent)
            if self._refusals.accepted(body) == sent:
                raise
            return await self._start(body)
        reply = ChatReply(self.endpoint.provider, response)
        await reply.start()
        return reply


async def completion(deltas: AsyncGenerator[ChatDelta, None]) -> Completion:
    """Returns the complete answer of a stream."""
    text: list[str] = []
    usage: Usage | None = None
    reason: str | None = None
    async for delta in deltas:
        if delta.restarted:
            text.clear()
        text.append(delta.text)
        usage, reason = delta.usage or usage, delta.finish_reason or reason
    return Completion("".join(text), usage, reason == "length")
