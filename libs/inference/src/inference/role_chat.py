"""The models of one role, tried in order: if one fails, the next one answers."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from contracts.models import ModelRole
from inference.calls import CallEnd, Meter, ModelCall, Unmetered
from inference.capabilities import Capabilities, SetCapabilities
from inference.chat import AnswerSchema, ChatDelta, ChatMessage, Completion, Tool
from inference.errors import CallRefused, ChatError, EmptyAnswer, ModelCannot, StreamCut
from inference.estimate import estimated_prompt_tokens, seems_cut
from inference.openai_chat import OpenAIChat, completion

# A reader has hardly begun by then, so another model may start over.
RESTARTED_CHARACTERS = 200
ASSUMED_ANSWER_TOKENS = 2_048
NOTHING_SET = SetCapabilities()
SOURCES = {
    "set": "as its setting says",
    "told": "as its endpoint reports",
    "learned": "as it has refused before",
    "assumed": "as is assumed",
}
Asking = Callable[[OpenAIChat], AsyncGenerator[ChatDelta, None]]


@dataclass(frozen=True, slots=True)
class RoleCandidate:
    """A model of a role and its provider's name; `set_by_hand` overrides what the endpoint reports."""

    provider: str
    chat: OpenAIChat
    set_by_hand: SetCapabilities = NOTHING_SET

    @property
    def name(self) -> str:
        return f"{self.chat.model} of {self.provider}"

    async def capabilities(self) -> Capabilities:
        reported = await self.chat.endpoint.capabilities(self.chat.model)
        return reported.with_set(self.set_by_hand)


class RoleChat:
    """Asks the candidates in order, at least one. After a refusal here (`CallRefused`) no other is asked.

    Before the first word, each is retried by its RetryPolicy, then the next one is asked. If an answer breaks off
    within its first 200 characters, the next one starts over (`restarted`); later, StreamCut is raised and the partial
    answer stands.
    """

    def __init__(self, role: ModelRole, candidates: Sequence[RoleCandidate], meter: Meter | None = None) -> None:
        self.role, self.candidates, self._meter = role, tuple(candidates), meter or Unmetered()

    @property
    def model(self) -> str:
        return self.candidates[0].chat.model

    async def window(self) -> int:
        """Returns how many tokens all candidates can read and write together in one call."""
        known = await asyncio.gather(*(candidate.capabilities() for candidate in self.candidates))
        return min(one.context_tokens.value for one in known)

    async def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int | None = None,
        temperature: float = 0.2,
        tools: Sequence[Tool] = (),
    ) -> AsyncGenerator[ChatDelta, None]:
        """Yields the answer of the first candidate that gives one. Raises the last candidate's ChatError."""

        def ask(chat: OpenAIChat) -> AsyncGenerator[ChatDelta, None]:
            return chat.stream(messages, max_tokens=max_tokens, temperature=temperature, tools=tools)

        async with aclosing(self._first_answer(ask, messages, max_tokens, tools)) as deltas:
            async for delta in deltas:
                yield delta

    async def stream_structured(
        self,
        messages: Sequence[ChatMessage],
        schema: AnswerSchema,
        *,
        max_tokens: int | None = None,
        temperature: float = 0.0,
    ) -> AsyncGenerator[ChatDelta, None]:
        """Asks for JSON by `schema` in the same way."""

        def ask(chat: OpenAIChat) -> AsyncGenerator[ChatDelta, None]:
            return chat.stream_structured(messages, schema, max_tokens=max_tokens, temperature=temperature)

        async with aclosing(self._first_answer(ask, messages, max_tokens, ())) as deltas:
            async for delta in deltas:
                yield delta

    async def answer(
        self, messages: Sequence[ChatMessage], *, max_tokens: int | None = None, temperature: float = 0.2
    ) -> Completion:
        """Returns the complete answer, with its usage. Raises ChatError."""
        async with aclosing(self.stream(messages, max_tokens=max_tokens, temperature=temperature)) as deltas:
            return await completion(deltas)

    async def complete(
        self, messages: Sequence[ChatMessage], *, max_tokens: int | None = None, temperature: float = 0.2
    ) -> str:
        return (await self.answer(messages, max_tokens=max_tokens, temperature=temperature)).text

    async def _first_answer(
        self, ask: Asking, messages: Sequence[ChatMessage], max_tokens: int | None, tools: Sequence[Tool]
    ) -> AsyncGenerator[ChatDelta, None]:
        *_, last = self.candidates
        for candidate in self.candidates:
            characters = 0
            try:
                await self._must_be_able(candidate, messages, tools)
                async with aclosing(self._metered(candidate, ask, messages, max_tokens)) as deltas:
                    async for delta in deltas:
                        characters += len(delta.text) + sum(len(call.arguments) for call in delta.tool_calls)
                        yield delta
            except CallRefused:
                raise
            except ChatError as error:
                if candidate is last or characters > RESTARTED_CHARACTERS:
                    raise
                following = self.candidates[self.candidates.index(candidate) + 1]
                issue = f"{candidate.name} failed, so {following.name} is asked: {error}"
                yield ChatDelta(issue=issue, restarted=characters > 0)
            else:
                return

    async def _must_be_able(
        self, candidate: RoleCandidate, messages: Sequence[ChatMessage], tools: Sequence[Tool]
    ) -> None:
        """Raises ModelCannot if the model is known to accept no images or call no tools."""
        images = any(message.has_images for message in messages)
        if not images and not tools:
            return
        known = await candidate.capabilities()
        if images and known.vision is not None and not known.vision.value:
            raise ModelCannot(f"it sees no images, {SOURCES[known.vision.source]}")
        if tools and known.tools is not None and not known.tools.value:
            raise ModelCannot(f"it calls no tools, {SOURCES[known.tools.source]}")

    async def _metered(
        self, candidate: RoleCandidate, ask: Asking, messages: Sequence[ChatMessage], max_tokens: int | None
    ) -> AsyncGenerator[ChatDelta, None]:
        most = max_tokens or candidate.chat.max_tokens or ASSUMED_ANSWER_TOKENS
        sent = estimated_prompt_tokens(messages)
        call = ModelCall(self.role, candidate.provider, candidate.chat.model, sent, most)
        async with self._meter.metered(call):
            try:
                async with aclosing(ask(candidate.chat)) as deltas:
                    async for delta in deltas:
                        call.note(delta)
                        yield delta
                if not call.written_bytes:
                    raise EmptyAnswer
            except ChatError as error:
                call.end = CallEnd.cut if isinstance(error, StreamCut) or call.first_token_ms else CallEnd.failed
                raise
            except (GeneratorExit, asyncio.CancelledError):
                call.end = CallEnd.cancelled
                raise
            call.end = CallEnd.completed
        if call.usage is not None and seems_cut(sent, call.usage.input_tokens):
            told = f"about {sent} tokens were sent, and it read {call.usage.input_tokens}"
            yield ChatDelta(issue=f"{candidate.name} cut the prompt in silence: {told}")
