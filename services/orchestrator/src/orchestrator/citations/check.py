"""Checks citations before they are shown: each names a passage of this run, and its quote is a span of that passage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orchestrator.citations.markers import MarkerScanner, PlacedMarker
from orchestrator.citations.source import SourceText
from orchestrator.citations.support import CitedSpan, Claim, refusal, supporting_span
from service_kit.sentences import Span


class MarkerFilter:
    """Streams a model's answer; its markers are checked, bound to quotes and renumbered in order of appearance.

    `sources` are in the order of the numbers that the model was given, from 1. After `end`, `cited` are the citations
    in the order of their numbers, and `removed` counts the refused markers.
    """

    def __init__(self, sources: Sequence[SourceText]) -> None:
        self.sources = sources
        self.cited: list[CitedSpan] = []
        self._scanner = MarkerScanner(self._resolve)

    @property
    def markers(self) -> Sequence[PlacedMarker]:
        """Returns the markers in the text shown so far, with their positions."""
        return self._scanner.markers

    @property
    def code(self) -> Sequence[Span]:
        """Returns the code in the text shown so far."""
        return self._scanner.code

    @property
    def removed(self) -> int:
        return self._scanner.removed

    def feed(self, text: str) -> str:
        """Returns what may be shown by now."""
        return self._scanner.feed(text)

    def end(self) -> str:
        """Returns the rest."""
        return self._scanner.end()

    def _resolve(self, number: int, claim: Claim) -> int | None:
        if number > len(self.sources):
            return None
        span = supporting_span(claim, self.sources[number - 1])
        if span is None or refusal(claim, self.sources, number):
            return None
        for cited in self.cited:
            if (cited.passage, cited.start, cited.end) == (number, *span):
                return cited.number
        self.cited.append(CitedSpan(len(self.cited) + 1, number, *span))
        return len(self.cited)


@dataclass(frozen=True)
class Checked:
    """The checked answer; `removed` counts the markers and citations that were removed.

    `markers` and `code` are the positions of markers and code in `content`.
    """

    content: str
    cited: Sequence[CitedSpan]
    removed: int
    markers: Sequence[PlacedMarker] = ()
    code: Sequence[Span] = ()


def check(content: str, cited: Sequence[CitedSpan], passages: Sequence[str]) -> Checked:
    """Keeps markers with a citation, and citations with a marker and a quote of their passage, numbered from 1."""
    checked = _pass(content, [one for one in cited if _is_span(one, passages)])
    removed = checked.removed
    while checked.removed:
        # A removal may have joined backticks, which turns other text into code.
        checked = _pass(checked.content, checked.cited)
        removed += checked.removed
    return replace(checked, removed=removed)


def _pass(content: str, cited: Sequence[CitedSpan]) -> Checked:
    spans = {one.number: one for one in cited}
    order: list[CitedSpan] = []

    def resolve(number: int, _: Claim) -> int | None:
        span = spans.get(number)
        if span is None:
            return None
        if span not in order:
            order.append(span)
        return order.index(span) + 1

    scanner = MarkerScanner(resolve)
    text = scanner.feed(content) + scanner.end()
    kept = [CitedSpan(number, one.passage, one.start, one.end) for number, one in enumerate(order, 1)]
    return Checked(text, kept, scanner.removed + len(spans) - len(kept), scanner.markers, scanner.code)


def _is_span(cited: CitedSpan, passages: Sequence[str]) -> bool:
    if not 1 <= cited.passage <= len(passages):
        return False
    passage = passages[cited.passage - 1]
    return 0 <= cited.start < cited.end <= len(passage) and bool(passage[cited.start : cited.end].strip())
