"""Lets a model write an artifact, which is shown while it is written."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from contracts.artifact_actions import ArtifactAction
from contracts.run_events import ArtifactDelta, ArtifactStarted, ProviderIssue, ThinkingDelta
from inference.chat import ChatDelta, ChatMessage
from inference.errors import CallRefused, ChatError
from inference.estimate import estimated_prompt_tokens, estimated_tokens
from inference.role_chat import RoleChat
from orchestrator.errors import BudgetExceeded
from orchestrator.graphs.artifact_ops.fences import FenceFilter
from orchestrator.graphs.artifact_ops.recovery import NO_MODEL, TOO_LONG, SoftFailure, model_failed
from orchestrator.graphs.artifact_ops.sources import ArtifactSources, CitedText
from orchestrator.graphs.conversation.context import ConversationContext

LEAST_ANSWER = 512


@dataclass
class Written:
    """The text that the model wrote; `failure` is what cut it short."""

    text: str
    citations: list[dict[str, object]]
    language: str | None
    removed: int
    failure: str
    issues: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class SectionRequest:
    """The messages that ask for a part of the text, and the line ends between it and the next one."""

    messages: Sequence[ChatMessage]
    tail: str = ""


def model_of(context: ConversationContext) -> RoleChat:
    """Raises SoftFailure without a chat model."""
    chat = context.models.of("artifact")
    if chat is None:
        raise SoftFailure(NO_MODEL)
    return chat


async def has_room(chat: RoleChat, messages: Sequence[ChatMessage], expected: str) -> bool:
    """Returns whether the model can read the messages and write a text the size of `expected`."""
    needed = estimated_prompt_tokens(messages) + max(LEAST_ANSWER, estimated_tokens(expected))
    return needed <= await chat.window()


async def check_room(chat: RoleChat, messages: Sequence[ChatMessage], expected: str) -> None:
    """Raises SoftFailure if the model cannot read the messages and write a text the size of `expected`."""
    if not await has_room(chat, messages, expected):
        raise SoftFailure(TOO_LONG)


@dataclass
class ArtifactWriting:
    """One text, from its first word to its end; if another model starts over, a new text replaces it.

    `raw` is the text with the markers as the model wrote them, `held` the line ends after it.
    """

    context: ConversationContext
    sources: ArtifactSources
    action: ArtifactAction
    code: bool
    issues: list[str] = field(default_factory=list)
    language: str | None = None
    raw: str = ""
    held: str = ""

    async def write(self, chat: RoleChat, sections: Sequence[SectionRequest]) -> Written:
        """Writes the sections one after another, each with a request of its own, as one text.

        Also returns text that was cut short. Raises SoftFailure if nothing was written; BudgetExceeded.
        """
        failure = ""
        await self._begin()
        for section in sections:
            failure = await self._section(chat, section)
            if failure:
                break
            self.held = section.tail
        self._show(self.markers.end())
        text = "".join(self.shown).strip("\n")
        if not text.strip():
            raise model_failed(failure)
        found = CitedText(f"{text}\n", [])
        if not self.code:
            found = await asyncio.to_thread(self.sources.whole, found.text, self.markers.cited)
        removed = self.markers.removed + found.removed
        return Written(found.text, found.citations, self.language, removed, failure, self.issues)

    async def _section(self, chat: RoleChat, section: SectionRequest) -> str:
        """Writes a section; returns what cut it short, if anything did. Raises BudgetExceeded."""
        failure, before, held = "", self.raw, self.held
        self.fences = FenceFilter(code=self.code)
        try:
            async with aclosing(chat.stream(section.messages)) as deltas:
                async for delta in deltas:
                    if delta.restarted:
                        self.fences = FenceFilter(code=self.code)
                        self.raw, self.held = before, held
                        await self._begin()
                    if delta.finish_reason == "length":
                        failure = "it reached its limit of tokens"
                    await self._take(delta, len(before))
        except CallRefused as refusal:
            raise BudgetExceeded(refusal.detail) from refusal
        except ChatError as error:
            failure = str(error)
        await self._add(self.fences.end(), len(before))
        self.language = self.language or self.fences.language
        return failure or ("" if self.raw[len(before) :].strip() else "it wrote nothing")

    async def _begin(self) -> None:
        """Shows again the part of the text that stays."""
        self.markers = self.sources.filter()
        self.shown: list[str] = []
        self.context.events.emit(ArtifactStarted(action=self.action))
        self._show(await self._filtered(self.raw))

    async def _take(self, delta: ChatDelta, start: int) -> None:
        if delta.thinking:
            self.context.events.emit(ThinkingDelta(text=delta.thinking))
        if delta.issue:
            self.issues.append(delta.issue)
            self.context.events.emit(ProviderIssue(message=delta.issue))
        if delta.text:
            await self._add(self.fences.feed(delta.text), start)

    async def _add(self, text: str, start: int) -> None:
        """Adds to the section that begins at `start`. The line ends around it are those of the old text."""
        if len(self.raw) == start:
            text = text.lstrip("\r\n")
        body = text.rstrip("\r\n")
        if body:
            added = f"{self.held}{body}"
            self.raw += added
            self._show(await self._filtered(added))
            self.held = ""
        self.held += text[len(body) :]

    async def _filtered(self, text: str) -> str:
        """Returns the text that can be shown now; markers are resolved outside the event loop."""
        if self.code or not text:
            return text
        return await asyncio.to_thread(self.markers.feed, text)

    def _show(self, text: str) -> None:
        if text:
            self.context.events.emit(ArtifactDelta(text=text))
            self.shown.append(text)
