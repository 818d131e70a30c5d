"""Makes the parameters of the statements that write a converted document. No IO; meant to run in a thread.

COPY is not possible with row-level security, so rows are sent as arrays in PostgreSQL's text form, one statement per
batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Protocol, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from psycopg.types.json import Jsonb

from contracts.events import DocumentConverted
from contracts.ingestion import Chunk
from relevance.analysis import Analyzer, TermCounts, name_forms
from relevance.languages import stemming_of
from relevance.wordpieces import WordPieces, chunk_text
from retrieval.index.changes import ChunkChanges, Naming
from retrieval.index.statements import IndexDocumentSql
from retrieval.lexical.postings import encode_rows
from retrieval.reading.vectors import vector_array

BATCH = 250  # chunks
Values: TypeAlias = dict[str, object]
Statement: TypeAlias = tuple[str, Values]


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
    def dims(self) -> int:
        return int(self.rows.shape[1])


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

    @property
    def chunk_count(self) -> int:
        return len(self.chunks)


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


def additions(prepared: Prepared, changes: ChunkChanges, new_numbers: Sequence[int]) -> list[Statement]:
    """Returns (statement, values) for new chunks (`new_numbers` in order), postings and vectors."""
    numbers = {**changes.kept, **dict(zip(changes.new, new_numbers, strict=True))}
    statements: list[Statement] = []
    for some in _batches(changes.new):
        rows = {"chunks": json_rows([prepared.chunks[position] for position in some])}
        statements.append((IndexDocumentSql.insert_chunks, rows | _analysed(prepared, some, numbers)))
    for some in _batches([position for position in changes.posted if position in changes.kept]):
        statements.append((IndexDocumentSql.reword_chunks, _analysed(prepared, some, numbers)))
    statements += [
        (IndexDocumentSql.insert_recent, _postings(prepared, some, numbers)) for some in _batches(changes.posted)
    ]
    if vectors := prepared.vectors:
        for some in _batches(changes.embedded):
            embeddings = vector_array(vectors.rows[some])
            own = [numbers[position] for position in some]
            written: Values = {"numbers": own, "embeddings": embeddings, "model": vectors.model}
            statements.append((IndexDocumentSql.insert_vectors, written))
    return statements


def json_rows(chunks: Iterable[Chunk]) -> str:
    """Returns the chunks in the form that json_to_recordset reads."""
    return f"[{','.join(chunk.model_dump_json() for chunk in chunks)}]"


class IndexedText(Protocol):
    @property
    def chunk_index(self) -> int: ...
    @property
    def heading_path(self) -> list[str]: ...
    @property
    def content(self) -> str: ...


def indexed_texts(naming: Naming, chunk: IndexedText) -> Iterator[str]:
    """Yields the texts that a chunk is found by: title, headings, content, and for the first chunk the file's name."""
    title, *name = naming.of(chunk.chunk_index)
    yield title
    yield from (heading for heading in chunk.heading_path if heading != title)
    yield chunk.content
    yield from name


def _analysed(prepared: Prepared, positions: Sequence[int], numbers: Mapping[int, int]) -> Values:
    analyses = [prepared.analyses[position] for position in positions]
    return {
        "numbers": [numbers[position] for position in positions],
        "terms": [analysis.length for analysis in analyses],
        "postings": [len(analysis.frequencies) for analysis in analyses],
        "pieces": [prepared.pieces[position] for position in positions],
    }


def _postings(prepared: Prepared, positions: Sequence[int], numbers: Mapping[int, int]) -> Values:
    postings = sorted(
        (term, numbers[position], frequency, prepared.analyses[position].length)
        for position in positions
        for term, frequency in prepared.analyses[position].frequencies.items()
    )
    return {"postings": len(postings), "payload": encode_rows(postings)}


def _batches(positions: Sequence[int]) -> Iterator[Sequence[int]]:
    return (positions[start : start + BATCH] for start in range(0, len(positions), BATCH))
