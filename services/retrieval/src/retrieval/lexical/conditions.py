"""Conditions that postings cannot answer, because they have no positions: phrases, and words of headings.

The texts of chunks that have all the words are analysed again. A phrase matches if its terms follow each other in the
title, in one heading, or in the content, with the same number of stop words between them, whichever these are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from relevance.analysis import Analyzer
from retrieval.lexical.statements import PostingSql
from retrieval.reading.reader import IndexReader
from retrieval.text.query import ParsedQuery

_STOP_WORD = "\0"  # no term contains it, or a blank
_NOTHING = f" {_STOP_WORD}"


@dataclass(frozen=True)
class ConditionVerdict:
    """The result for a chunk: the `share` of the phrases that it has; `admitted` if it meets the conditions."""

    share: float
    admitted: bool


class CheckedChunk(NamedTuple):
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
    """Checks chunks, each once, for what is `wanted`: phrases, of which they should have many (all if `strict`), words
    of their headings, and excluded words, which must not occur.
    """

    def __init__(self, reader: IndexReader, analyzer: Analyzer, wanted: ParsedQuery) -> None:
        self.reader, self.analyzer, self.wanted = reader, analyzer, wanted
        self.verdicts: dict[int, ConditionVerdict] = {}

    async def read(self, chunks: Iterable[int]) -> None:
        """Fills `verdicts` for all of the chunks."""
        missing = [chunk for chunk in chunks if chunk not in self.verdicts]
        if missing:
            rows = await self.reader.rows(PostingSql.chunks_to_check, chunks=missing)
            found = map(CheckedChunk._make, rows)
            self.verdicts |= await asyncio.to_thread(lambda: {one.number: self._verdict(one) for one in found})

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
