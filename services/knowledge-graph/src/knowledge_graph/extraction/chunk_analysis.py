"""What is known of one chunk on the way from its text to its graph."""

from __future__ import annotations

from dataclasses import dataclass, field

from knowledge_graph.extraction import alias_statements
from knowledge_graph.extraction.definitions import Opening
from knowledge_graph.extraction.english_reader import Reading
from knowledge_graph.extraction.records import Candidate, Mention, Passage, Span
from knowledge_graph.extraction.sentences import Sentences


@dataclass
class Part:
    """A chunk: what titles and headings call it, and step by step the names in its text."""

    passage: Passage
    reading: Reading
    sentences: Sentences
    titles: list[tuple[Span, str]]
    spans: list[Span] = field(default_factory=list)
    statements: list[alias_statements.Statement] = field(default_factory=list)
    opening: Opening | None = None
    definitions: set[Span] = field(default_factory=set)
    candidates: list[Candidate] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)

    @property
    def text(self) -> str:
        return self.passage.content
