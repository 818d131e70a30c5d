"""A chunk, analysed once to be compared with many sentences."""

from __future__ import annotations

from functools import cached_property

from orchestrator.citations.analysis import Analysis
from orchestrator.citations.terms import terms
from orchestrator.citations.wording import WordLikeness, unlike
from service_kit.sentences import Span, sentences


class SourceText:
    """The analysed text of a chunk; its `heading` (title, section) may contribute names and numbers.

    `alike` finds words of a sentence that paraphrase a word of the chunk.
    """

    def __init__(self, content: str, heading: str = "", alike: WordLikeness = unlike) -> None:
        self.content, self.heading, self.alike = content, heading, alike
        self._stretches: dict[tuple[int, int], Analysis] = {}

    @cached_property
    def spans(self) -> list[Span]:
        """Returns the sentences."""
        return sentences(self.content)

    @cached_property
    def texts(self) -> list[Analysis]:
        return [Analysis(self.content[start:end]) for start, end in self.spans]

    @cached_property
    def terms(self) -> list[frozenset[str]]:
        return [terms(self.content[start:end]) for start, end in self.spans]

    @cached_property
    def whole(self) -> Analysis:
        return Analysis(f"{self.heading}\n\n{self.content}" if self.heading else self.content)

    @cached_property
    def in_a_row(self) -> str:
        """Returns the words only, separated by spaces."""
        return f" {' '.join(self.whole.lower)} "

    def stretch(self, first: int, last: int) -> tuple[Span, Analysis]:
        """Returns sentences `first` to `last` as one text."""
        span = self.spans[first][0], self.spans[last][1]
        if first == last:
            return span, self.texts[first]
        if (first, last) not in self._stretches:
            self._stretches[first, last] = Analysis(self.content[slice(*span)])
        return span, self._stretches[first, last]
