"""Reads, checks and analyses a converted document for the index. No IO; meant to run in a thread."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from io import BytesIO
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from psycopg.types.json import Jsonb
from pydantic import ValidationError

from contracts.base import storable
from contracts.events import DocumentConverted
from contracts.ingestion import Chunk
from inference.embedders import SpaceKey
from relevance.analysis import Analyzer, TermCounts, name_forms
from relevance.languages import stemming_of
from relevance.wordpieces import WordPieces, chunk_text
from retrieval.errors import ConvertedInvalid
from retrieval.index.changes import Naming
from retrieval.lexical.postings import ORDINAL_BITS
from service_kit import chunks as chunk_lines

Values: TypeAlias = dict[str, object]
MOST_CHUNKS = 1 << ORDINAL_BITS


@dataclass(frozen=True)
class Facts:
    """The facts about a document that the index keeps."""

    document_id: UUID
    version: int
    name: str
    title: str | None
    media_type: str
    tags: list[str]
    language: str | None
    source_type: str | None
    source_ids: list[UUID]
    written_at: datetime | None
    modified_at: datetime | None
    metadata: dict[str, Any]

    @classmethod
    def of(cls, document: DocumentConverted | Facts) -> Facts:
        """Takes the facts of an event, or of an `Indexed`, which has more."""
        return cls(**{field.name: getattr(document, field.name) for field in fields(cls)})

    def values(self) -> Values:
        """Returns the parameters of a statement."""
        own = {field.name: getattr(self, field.name) for field in fields(Facts)}
        return own | {"metadata": Jsonb(self.metadata)}

    @property
    def naming(self) -> Naming:
        return Naming(self.name, self.title, stemming_of(self.language))


@dataclass(frozen=True)
class ChunkVectors:
    """Vectors of one embedding space, a row per chunk."""

    model: str
    rows: NDArray[np.float32]

    @property
    def space(self) -> SpaceKey:
        return self.model, int(self.rows.shape[1])


@dataclass(frozen=True)
class Prepared:
    """A document ready to be written. `pieces` are the chunks' distinct wordpieces, as they are stored."""

    facts: Facts
    chunks: Sequence[Chunk]
    analyses: Sequence[TermCounts]
    pieces: Sequence[bytes]
    title_terms: list[str]
    name_terms: list[str]
    vectors: ChunkVectors | None


def read_chunks(document: DocumentConverted, data: bytes) -> list[Chunk]:
    """Reads JSON Lines. Raises ConvertedInvalid if they contradict the event, or if the database cannot store them."""
    try:
        chunks = list(chunk_lines.read_chunks([data]))
        for chunk in chunks:
            for text in (chunk.chunk_id, chunk.section_title or "", *chunk.heading_path, chunk.content):
                storable(text)
    except ValidationError as error:
        first = json.dumps(error.errors(include_input=False, include_url=False)[0], default=str)
        raise ConvertedInvalid(f"a chunk cannot be read: {first}") from error
    except ValueError as error:
        raise ConvertedInvalid(f"a chunk cannot be stored: its text {error}") from error
    if len(chunks) != document.chunk_count:
        raise ConvertedInvalid(f"there are {len(chunks)} chunks where {document.chunk_count} were announced")
    if len(chunks) > MOST_CHUNKS:
        raise ConvertedInvalid(f"there are {len(chunks)} chunks where {MOST_CHUNKS} can be indexed")
    if any(chunk.document_id != document.document_id for chunk in chunks):
        raise ConvertedInvalid("a chunk belongs to another document")
    return chunks


def read_vectors(document: DocumentConverted, data: bytes) -> ChunkVectors:
    """Reads NumPy's .npy, a row per chunk. Raises ConvertedInvalid."""
    try:
        rows = np.load(BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ConvertedInvalid(f"the vectors cannot be read: {error}") from error
    expected = (document.chunk_count, document.embedding_dims)
    if rows.shape != expected:
        raise ConvertedInvalid(f"the vectors have the shape {rows.shape} where {expected} was announced")
    if document.embedding_model is None:
        raise ConvertedInvalid("the vectors are of a model that is not named")
    if not np.isfinite(rows).all():
        raise ConvertedInvalid("a vector has a value that is not finite")
    return ChunkVectors(document.embedding_model, np.asarray(rows, np.float32))


def prepare(
    facts: Facts, chunks: Sequence[Chunk], vectors: ChunkVectors | None, analyzer: Analyzer, pieces: WordPieces
) -> Prepared:
    """Analyses the chunks of a document."""
    naming = facts.naming
    title = facts.title or facts.name
    return Prepared(
        facts=facts,
        chunks=chunks,
        analyses=[analyzer.analyse(*indexed_texts(naming, chunk), stemming=naming.stemming) for chunk in chunks],
        pieces=pieces.distinct([chunk_text(facts.title or "", chunk.heading_path, chunk.content) for chunk in chunks]),
        title_terms=sorted(set(analyzer.terms(title, naming.stemming))),
        name_terms=sorted({term for form in name_forms(facts.name) for term in analyzer.terms(form, naming.stemming)}),
        vectors=vectors,
    )


@dataclass(frozen=True)
class StoredText:
    """The text of an indexed chunk. `postings`: how many it has."""

    number: int
    chunk_index: int
    heading_path: list[str]
    content: str
    postings: int


def indexed_texts(naming: Naming, chunk: Chunk | StoredText) -> Iterator[str]:
    """Yields the texts that a chunk is found by: title, headings, content, and for the first chunk the file's name."""
    title, *name = naming.of(chunk.chunk_index)
    yield title
    yield from (heading for heading in chunk.heading_path if heading != title)
    yield chunk.content
    yield from name
