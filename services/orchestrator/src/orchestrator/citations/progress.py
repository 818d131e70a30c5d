"""Checks an answer sentence by sentence while it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orchestrator.citations.assess import examine
from orchestrator.citations.claims import LONGEST_SENTENCE, AnswerSentence, BareAnswer, MarkerPlace
from orchestrator.citations.markers import PlacedMarker
from orchestrator.citations.source import SourceText
from orchestrator.citations.support import CitedSpan
from orchestrator.citations.writing import AssessedSentence, written
from service_kit.sentences import Span


@dataclass(frozen=True)
class StreamedAnswer:
    """The text shown so far, the markers and the code in it, and the citations of the markers."""

    text: str
    markers: Sequence[PlacedMarker]
    code: Sequence[Span]
    cited: Sequence[CitedSpan]


@dataclass(frozen=True)
class StreamedSentence:
    """Characters `start` to `end` of the streamed text, including their markers, and the finding."""

    start: int
    end: int
    content: str
    assessed: AssessedSentence
    cited: Sequence[CitedSpan]


class AnswerProgress:
    """Checks the text that is new since the last check; `cited` are the citations of all finished sentences.

    CPU-bound: call it in a thread, one call at a time.
    """

    def __init__(self, sources: Sequence[SourceText]) -> None:
        self.sources = sources
        self.cited: list[CitedSpan] = []
        self._done, self._looked_at, self._lead = 0, 0, ""

    def advance(self, answer: StreamedAnswer, *, final: bool) -> list[StreamedSentence]:
        """Returns the sentences finished since the last call: with `final` all, else those that cannot continue."""
        if not final and len(answer.text) - self._looked_at < self._patience():
            return []
        self._looked_at = len(answer.text)
        bare, start = _rest(answer, self._done), self._done
        sentences = bare.sentences(self._lead)
        sentences = sentences if final else sentences[: _finished(bare, sentences)]
        if not sentences:
            return []
        places = bare.places(sentences)
        self._lead = sentences[-1].lead
        found = [self._streamed(start, *one) for one in self._assessed(answer, bare, sentences, places)]
        self._done = max(one.end for one in found)
        return found

    def _patience(self) -> int:
        """Returns how much new text to wait for: a long text without a sentence end is checked rarely."""
        return LONGEST_SENTENCE if self._looked_at - self._done > LONGEST_SENTENCE else 1

    def _assessed(
        self,
        answer: StreamedAnswer,
        bare: BareAnswer,
        sentences: Sequence[AnswerSentence],
        places: Sequence[Sequence[MarkerPlace]],
    ) -> list[tuple[Span, str, AssessedSentence]]:
        spans = {one.number: one for one in answer.cited}
        found = [
            examine(sentence, [spans[number] for place in own for number in place.numbers], self.sources)
            for sentence, own in zip(sentences, places, strict=True)
        ]
        text = written(bare, list(zip(sentences, places, found, strict=True)), spans, 0, self.cited)
        self.cited = list(text.cited)
        shown = map(bare.shown, sentences, places)
        return [(span, text.content[one.start : one.end], one) for span, one in zip(shown, text.sentences, strict=True)]

    def _streamed(self, start: int, span: Span, content: str, assessed: AssessedSentence) -> StreamedSentence:
        cited = [self.cited[number - 1] for number in assessed.citations]
        return StreamedSentence(start + span[0], start + span[1], content, assessed, cited)


def _rest(answer: StreamedAnswer, start: int) -> BareAnswer:
    """Returns the text after the position, without its markers."""
    markers = [
        replace(one, start=one.start - start, end=one.end - start) for one in answer.markers if one.start >= start
    ]
    code = [(max(0, first - start), last - start) for first, last in answer.code if last > start]
    return BareAnswer(answer.text[start:], markers, code)


def _finished(bare: BareAnswer, sentences: Sequence[AnswerSentence]) -> int:
    """Returns how many sentences cannot continue: another or a line break follows; for a table row a full line."""
    for count in range(len(sentences), 0, -1):
        last = sentences[count - 1]
        lines = bare.text.count("\n", last.end)
        row = bare.text.startswith("|", last.start)
        if lines >= (2 if row else 1) or (count < len(sentences) and not row):
            return count
    return 0
