"""Conditions that postings cannot answer, because they have no positions: phrases, and words of headings.

The texts of chunks that have all the words are analysed again. A phrase matches if its terms follow each other in the
title, in one heading, or in the content, with the same number of stop words between them, whichever these are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from relevance.analysis import Analyzer
from retrieval.lexical.statements import PostingSql
from retrieval.reading.reader import IndexReader

_STOP_WORD = "\0"  # no term contains it, or a blank
_NOTHING = f" {_STOP_WORD}"


@dataclass(frozen=True)
class TextConditions:
    """What a chunk's text is checked for: `phrases`, of which it should have many (all if `strict`), `sections`, which
    must be in its headings, and `excluded`, which must not occur.
    """

    phrases: Sequence[str] = ()
    sections: Sequence[str] = ()
    excluded: Sequence[str] = ()
    strict: bool = False

    @property
    def conditions(self) -> bool:
        """True if there is a condition that every chunk must meet."""
        return bool(self.sections or self.excluded or (self.strict and self.phrases))


@dataclass(frozen=True)
class ConditionVerdict:
    """The result for a chunk: the `share` of the phrases that it has; `admitted` if it meets the conditions."""

    share: float
    admitted: bool


@dataclass(frozen=True)
class CheckedChunk:
    number: int
    title: str
    heading_path: list[str]
    section_title: str | None
    content: str
    stemming: str

    @property
    def headings(self) -> Iterable[str]:
        return [*self.heading_path, *([self.section_title] if self.section_title else [])]


class ConditionCheck:
    """Checks chunks, each once."""

    def __init__(self, reader: IndexReader, analyzer: Analyzer, wanted: TextConditions) -> None:
        self.reader, self.analyzer, self.wanted = reader, analyzer, wanted
        self.verdicts: dict[int, ConditionVerdict] = {}

    async def read(self, chunks: Iterable[int]) -> None:
        """Fills `verdicts` for all of the chunks."""
        missing = [chunk for chunk in chunks if chunk not in self.verdicts]
        if missing:
            rows = await self.reader.rows(PostingSql.chunks_to_check, chunks=missing)
            self.verdicts.update(await asyncio.to_thread(self._verdicts, [CheckedChunk(*row) for row in rows]))

    def _verdicts(self, chunks: Sequence[CheckedChunk]) -> dict[int, ConditionVerdict]:
        return {chunk.number: self._verdict(chunk) for chunk in chunks}

    def _verdict(self, chunk: CheckedChunk) -> ConditionVerdict:
        headings = [line_of(self.analyzer, heading, chunk.stemming) for heading in chunk.headings]
        own = [line_of(self.analyzer, text, chunk.stemming) for text in (chunk.title, chunk.content)]
        lines = own + headings
        phrases = self._found(self.wanted.phrases, lines, chunk.stemming)
        sections = self._found(self.wanted.sections, headings, chunk.stemming)
        excluded = self._found(self.wanted.excluded, lines, chunk.stemming)
        share = sum(phrases) / len(phrases) if phrases else 0.0
        admitted = all(sections) and not any(excluded) and (all(phrases) or not self.wanted.strict)
        return ConditionVerdict(share, admitted)

    def _found(self, phrases: Sequence[str], lines: Sequence[str], stemming: str) -> list[bool]:
        """Returns for each phrase whether a line has it; phrases without terms are left out."""
        wanted = [line for line in (phrase_of(self.analyzer, phrase, stemming) for phrase in phrases) if line]
        return [any(f" {phrase} " in line for line in lines) for phrase in wanted]


def line_of(analyzer: Analyzer, text: str, stemming: str) -> str:
    """Returns the terms in order between blanks, with placeholders for stop words, to search phrases as text."""
    return f" {' '.join([term or _STOP_WORD for term in analyzer.places(text, stemming)])} "


def phrase_of(analyzer: Analyzer, text: str, stemming: str) -> str:
    """Returns a phrase as it is searched in lines; empty if the text has only stop words."""
    return line_of(analyzer, text, stemming).strip(_NOTHING)
