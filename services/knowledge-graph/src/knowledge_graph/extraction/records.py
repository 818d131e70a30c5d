"""What extraction reads and what it gives."""

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

    `name` is the file's name. With `is_code` extraction reads what code names (definitions, imports) instead of prose.
    `language` is an ISO 639-1 code; None (unknown) is read as English. `written` is the day that its metadata name, as
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
    """A name in a chunk, as the document's resolution understood it: `entity_id` and `name_key` are those of the
    document's name ("Lothair II"), `surface` is what stands there ("Lothair"), characters `start` to `end`.

    `about` says that the chunk is about it, and why: `title`, `name` (of the file), `heading`, `definition`, `subject`
    (the first that the chunk names); else None. `sentence_start` to `sentence_end` is the sentence of the mention.
    What a title, heading or file name says has no place in the chunk: all four are 0. `origin` is `text` (rules),
    `model` (refinement by a chat model) or `user`.
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


@dataclass(frozen=True)
class RelationEvidence:
    """One place that says `source` → `target`: characters `start` to `end` of the chunk (0 to 0: the whole chunk).

    `method` is `cooccurrence`, `pattern`, `dependency`, `model` or `user`; `phrase` the verb phrase as written, or "".
    `status` is `current`, `past`, `planned` or `negated`; `dated` the date that the sentence gives, no more precise.
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
    """A place that says that two names are one: "Single Sign-On (SSO)", "X, also known as Y".

    `method` is `abbreviation`, `spelling`, `stated` or `user`; characters `start` to `end` of the chunk say so.
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
    """Words that could be a name, though nothing here says so: a mention as soon as another place makes `entity_id` an
    entity. Candidates overlap each other; none lies inside a mention of its own chunk."""

    entity_id: str
    surface: str
    chunk_id: str
    start: int
    end: int
    sentence_start: int
    sentence_end: int


@dataclass(frozen=True)
class DocumentStanding:
    """A document's place among others, as its name and header say: `written` is its date; of the documents of one
    `series` the one with the higher `edition` is the later; `known_as` are its numbers (ADR-14), `replaces` those of
    documents that it takes the place of. `status` is that of what it states.
    """

    written: str | None = None
    series: str = ""
    edition: tuple[int, ...] = ()
    known_as: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    status: str = "current"


@dataclass(frozen=True)
class Extraction:
    """The graph of one document. `method` is `ner+patterns`, `ner+patterns+dependency` or `patterns`; `notes` say in
    words what was left out, and why."""

    method: str
    mentions: list[Mention] = field(default_factory=list)
    relations: list[RelationEvidence] = field(default_factory=list)
    aliases: list[Alias] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    standing: DocumentStanding = field(default_factory=DocumentStanding)
