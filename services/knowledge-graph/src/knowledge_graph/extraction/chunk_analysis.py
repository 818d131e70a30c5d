"""Holds what is known about one chunk while its text becomes a graph."""

from __future__ import annotations

from dataclasses import dataclass, field

from knowledge_graph.extraction import alias_statements
from knowledge_graph.extraction.definitions import OpeningDefinition
from knowledge_graph.extraction.english_reader import EnglishReading
from knowledge_graph.extraction.records import Candidate, Mention, SourceChunk, Span
from knowledge_graph.extraction.sentences import Sentences


@dataclass
class ChunkAnalysis:
    """A chunk: what titles and headings call it and, step by step, the names in its text."""

    chunk: SourceChunk
    reading: EnglishReading
    sentences: Sentences
    titles: list[tuple[Span, str]]
    spans: list[Span] = field(default_factory=list)
    statements: list[alias_statements.AliasStatement] = field(default_factory=list)
    opening: OpeningDefinition | None = None
    definitions: set[Span] = field(default_factory=set)
    candidates: list[Candidate] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)

    @property
    def text(self) -> str:
        return self.chunk.content

    @property
    def in_text(self) -> list[Mention]:
        """The mentions that have a position in the text."""
        return [mention for mention in self.mentions if mention.end]
