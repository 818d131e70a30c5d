"""What extraction reads and what it gives."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Passage:
    """A chunk as extraction sees it."""

    chunk_id: str
    content: str
    headings: tuple[str, ...] = ()


@dataclass(frozen=True)
class SourceDocument:
    """`name` is the file's name; `is_code` turns to what code names (definitions, imports) instead of prose."""

    name: str
    title: str | None
    is_code: bool
    passages: tuple[Passage, ...]


@dataclass(frozen=True)
class Span:
    """A name in a text: characters `start` to `end`."""

    start: int
    end: int
    surface: str
    entity_type: str


@dataclass(frozen=True)
class Mention:
    """`about` mentions come from a title, heading or file name: the chunk is about it; span 0 to 0."""

    entity_id: str
    name_key: str
    surface: str
    entity_type: str
    chunk_id: str
    start: int
    end: int
    about: bool = False


@dataclass(frozen=True)
class RelationEvidence:
    """One place that says `source` → `target`: characters `start` to `end` of the chunk (0 to 0: the whole chunk)."""

    source_id: str
    target_id: str
    relation_type: str
    weight: float
    confidence: float
    chunk_id: str
    start: int
    end: int


@dataclass(frozen=True)
class Extraction:
    """The graph of one document. `method` is `ner+patterns` or `patterns`."""

    method: str
    mentions: list[Mention] = field(default_factory=list)
    relations: list[RelationEvidence] = field(default_factory=list)
