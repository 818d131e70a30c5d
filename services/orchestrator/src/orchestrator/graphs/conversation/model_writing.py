"""Shows a model's answer while it is written; its markers and sentences are checked on the way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

from contracts.run_events import MessageDelta, MessageRestarted, ProviderIssue, ThinkingDelta
from inference.chat import ChatDelta
from inference.errors import CallRefused, ChatError
from orchestrator.citations.check import MarkerFilter
from orchestrator.graphs.conversation.context import ConversationContext, WrittenSoFar
from orchestrator.graphs.conversation.passages import sources_of
from orchestrator.graphs.conversation.sentence_checks import SentenceChecks
from orchestrator.graphs.conversation.state import FoundChunk
from orchestrator.runs.events import RunEvents

CLOSES = frozenset("]】")  # the end of a marker
CUT = "length"  # the finish reason at the token limit
CUT_ISSUE = "the chat model reached the limit of its tokens, so the answer is incomplete"


def tell(delta: ChatDelta, events: RunEvents, issues: list[str]) -> None:
    """Emits what is not part of the answer: the thinking, an issue, or a restart."""
    if delta.thinking:
        events.emit(ThinkingDelta(text=delta.thinking))
    if delta.issue:
        issues.append(delta.issue)
        events.emit(ProviderIssue(message=delta.issue))
    if delta.restarted:
        events.emit(MessageRestarted())


@dataclass
class ModelWriting:
    """One answer, from its first word to its end; if another model starts over, a new one replaces it.

    `notice` precedes the model's own words. `failure` is what broke it off; `is_cut`: it reached its token limit.
    """

    context: ConversationContext
    passages: Sequence[FoundChunk]
    notice: str
    failure: ChatError | None = None
    is_cut: bool = False
    issues: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.markers = MarkerFilter(sources_of(self.passages, self.context.alike))
        self.draft = WrittenSoFar("model", cited=self.markers.cited, passages=self.passages)

    @property
    def content(self) -> str:
        return "".join(self.draft.shown)

    @property
    def is_written(self) -> bool:
        """Returns whether the model has written anything."""
        return bool(self.content[len(self._opening) :].strip())

    @property
    def _opening(self) -> str:
        return f"{self.notice}\n\n" if self.notice else ""

    async def take(self, deltas: AsyncGenerator[ChatDelta, None]) -> bool:
        """Shows the deltas; returns whether another model starts over. Raises CallRefused; other errors are kept."""
        self.context.draft = self.draft
        self._show(self._opening)
        checks = SentenceChecks(self.markers, self.passages, self.context.events, len(self._opening))
        async with checks:
            try:
                async for delta in deltas:
                    tell(delta, self.context.events, self.issues)
                    if delta.restarted:
                        return True
                    self.is_cut = self.is_cut or delta.finish_reason == CUT
                    if delta.text:
                        checks.take(self._show(await self._filtered(delta.text)))
            except CallRefused:
                raise
            except ChatError as error:
                self.failure = error
            checks.take(self._show(self.markers.end()))
            await checks.end()
        return False

    def void(self) -> None:
        """Retracts what was shown."""
        if self.draft.shown:
            self.context.events.emit(MessageRestarted())
        self.context.draft = WrittenSoFar()

    async def _filtered(self, text: str) -> str:
        """Returns the text that can be shown now; markers are resolved outside the event loop."""
        feed = self.markers.feed
        return await asyncio.to_thread(feed, text) if CLOSES.intersection(text) else feed(text)

    def _show(self, text: str) -> str:
        if text:
            self.context.events.emit(MessageDelta(text=text))
            self.draft.shown.append(text)
        return text
