"""The input and output records of extraction."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class SourceChunk:
    """A chunk as extraction sees it."""

    chunk_id: str
    content: str
    headings: tuple[str, ...] = ()


@dataclass(frozen=True)
class SourceDocument:
    """A document to extract from.

    `name` is the file name. If `is_code`, extraction finds what code names (definitions, imports) instead of reading
    prose. `language` is an ISO 639-1 code; None (unknown) is read as English. `written` is the date in its metadata, as
    2024-06-28.
    """

    name: str
    title: str | None
    is_code: bool
    chunks: tuple[SourceChunk, ...]
    language: str | None = None
    written: str | None = None

    @property
    def is_english(self) -> bool:
        return self.language in (None, "en")


@dataclass(frozen=True)
class Span:
    """A name in a text: characters `start` to `end`."""

    start: int
    end: int
    surface: str
    entity_type: str


@dataclass(frozen=True)
class Mention:
    """A name in a chunk. `entity_id` and `name_key` are those of the resolved name ("Lothair II"); `surface` is what
    the text has ("Lothair"), characters `start` to `end`.

    `about` is the reason why the chunk is about the name: `title`, `name` (of the file), `heading`, `definition`,
    `subject` (the first name in the chunk); else None. `sentence_start` to `sentence_end` is the sentence of the
    mention. Names from a title, heading or file name have no position in the chunk: all four are 0. `origin` is `text`
    (rules), `model` (refinement by a chat model) or `user`. `states_type` is true for one mention of each name whose
    type the document states, so that each document counts once.
    """

    entity_id: str
    name_key: str
    surface: str
    entity_type: str
    chunk_id: str
    start: int
    end: int
    about: str | None = None
    sentence_start: int = 0
    sentence_end: int = 0
    origin: str = "text"
    states_type: bool = False


@dataclass(frozen=True)
class RelationEvidence:
    """A place that states `source` → `target`: characters `start` to `end` of the chunk (0 to 0: the whole chunk).

    `method` is `cooccurrence`, `pattern`, `dependency`, `model` or `user`; `phrase` is the verb phrase as written, or
    "". `status` is `current`, `past`, `planned` or `negated`; `dated` is the date that the sentence gives, with the
    same precision.
    """

    source_id: str
    target_id: str
    relation_type: str
    weight: float
    confidence: float
    chunk_id: str
    start: int
    end: int
    method: str = "cooccurrence"
    phrase: str = ""
    status: str = "current"
    dated: str | None = None


@dataclass(frozen=True)
class Alias:
    """A place that states that two names are one: "Single Sign-On (SSO)", "X, also known as Y".

    `method` is `abbreviation`, `spelling`, `stated` or `user`; characters `start` to `end` of the chunk are the
    statement.
    """

    alias_id: str
    alias_key: str
    alias: str
    target_id: str
    target_key: str
    target: str
    chunk_id: str
    start: int
    end: int
    method: str


@dataclass(frozen=True)
class Candidate:
    """Words that could be a name although this document does not show it. They become a mention as soon as another
    place makes `entity_id` an entity. Candidates overlap each other; none is inside a mention of its own chunk."""

    entity_id: str
    surface: str
    chunk_id: str
    start: int
    end: int
    sentence_start: int
    sentence_end: int


@dataclass(frozen=True)
class DocumentStanding:
    """A document's place among others, from its name and header. `written` is its date; among documents of one
    `series`, a higher `edition` is later; `known_as` are its numbers (ADR-14), `replaces` the numbers of documents that
    it replaces. `status` applies to what it states.
    """

    written: str | None = None
    series: str = ""
    edition: tuple[int, ...] = ()
    known_as: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    status: str = "current"


@dataclass(frozen=True)
class Extraction:
    """The graph of one document. `method` is `ner+patterns`, `ner+patterns+dependency` or `patterns`; `notes` say what
    was left out, and why."""

    method: str
    mentions: list[Mention] = field(default_factory=list)
    relations: list[RelationEvidence] = field(default_factory=list)
    aliases: list[Alias] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    standing: DocumentStanding = field(default_factory=DocumentStanding)
