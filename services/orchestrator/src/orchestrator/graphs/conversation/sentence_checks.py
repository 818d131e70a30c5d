"""Checks the sentences of an answer while it is streamed, outside the event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import asdict
from typing import Self, cast

from contracts.orchestrator import SentenceStatus
from contracts.run_events import SentenceChecked
from orchestrator.citations.check import MarkerFilter
from orchestrator.citations.progress import AnswerProgress, StreamedAnswer, StreamedSentence
from orchestrator.graphs.conversation.passages import citation_of
from orchestrator.graphs.conversation.state import Cited, FoundChunk
from orchestrator.runs.events import RunEvents

log = logging.getLogger(__name__)


class SentenceChecks:
    """Emits each sentence soon after its end. Sentences that end during a check are checked together next.

    `opening` is the length of the text shown before the model's own words. Entering starts the work and leaving ends
    it; a failure costs only these events, since the whole answer is checked at its end.
    """

    def __init__(self, markers: MarkerFilter, passages: Sequence[FoundChunk], events: RunEvents, opening: int) -> None:
        self.markers, self.passages, self.events, self.opening = markers, passages, events, opening
        self._progress = AnswerProgress(markers.sources)
        self._pieces: list[str] = []
        self._news, self._ended = asyncio.Event(), False

    async def __aenter__(self) -> Self:
        self._work = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._work.cancel()
        await asyncio.wait({self._work})
        if not self._work.cancelled() and (error := self._work.exception()):
            log.error("could not check sentences while the answer was written", exc_info=error)

    def take(self, text: str) -> None:
        """Takes text that was shown; `markers` has the markers in it."""
        if text:
            self._pieces.append(text)
            self._news.set()

    async def end(self) -> None:
        """Waits until the last sentence is checked."""
        self._ended = True
        self._news.set()
        await asyncio.wait({self._work})

    async def _run(self) -> None:
        final = False
        while not final:
            await self._news.wait()
            self._news.clear()
            final = self._ended
            answer = self._shown()
            for sentence in await asyncio.to_thread(self._progress.advance, answer, final=final):
                self.events.emit(self._checked(sentence))

    def _shown(self) -> StreamedAnswer:
        """Returns the text shown so far; `markers` may be ahead of it, as they are read in a thread."""
        self._pieces = [text := "".join(self._pieces)]
        length, filtered = len(text), self.markers
        return StreamedAnswer(
            text,
            [one for one in filtered.markers if one.end <= length],
            [one for one in filtered.code if one[1] <= length],
            list(filtered.cited),
        )

    def _checked(self, sentence: StreamedSentence) -> SentenceChecked:
        return SentenceChecked(
            start=self.opening + sentence.start,
            end=self.opening + sentence.end,
            content=sentence.content,
            status=SentenceStatus(sentence.assessed.status),
            reason=sentence.assessed.reason,
            attributed=sentence.assessed.attributed,
            citations=[citation_of(cast(Cited, asdict(one)), self.passages[one.passage - 1]) for one in sentence.cited],
        )
