"""A converted document as the parameters of its INSERTs, without IO: the work of a thread, not of the event loop.

Row-level security excludes COPY, so the rows travel as arrays in PostgreSQL's text form, one statement per batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contracts.events import DocumentConverted
from contracts.ingestion import Chunk
from retrieval.analysis import Analysis, Analyzer

BATCH = 250  # chunks


@dataclass(frozen=True)
class ChunkBatch:
    """Some chunks' parameters, by statement: chunks, postings, vectors. Positions count within the document."""

    start: int
    chunks: str
    terms: str
    positions: list[int]
    frequencies: str
    lengths: str
    embeddings: str

    def numbered(self, numbers: Sequence[int]) -> tuple[list[int], str]:
        """The chunks' own numbers, and one per posting, given all of the document's."""
        own = list(numbers[self.start : self.start + BATCH])
        return own, _array(numbers[position] for position in self.positions)


@dataclass(frozen=True)
class Prepared:
    """A document ready to be written. `term_count` is the sum of its chunks' lengths."""

    document: DocumentConverted
    chunk_count: int
    term_count: int
    title_terms: list[str]
    batches: Sequence[ChunkBatch]


def prepare(
    document: DocumentConverted, chunks: Sequence[Chunk], vectors: NDArray[np.float32], analyzer: Analyzer
) -> Prepared:
    """Analyses the chunks; `vectors` has a row per chunk."""
    title = document.title or document.name
    analyses = [analyzer.analyse(*_indexed_texts(document, title, chunk)) for chunk in chunks]
    return Prepared(
        document=document,
        chunk_count=len(chunks),
        term_count=sum(analysis.length for analysis in analyses),
        title_terms=sorted(set(analyzer.terms(title))),
        batches=[
            _batch(
                start, chunks[start : start + BATCH], analyses[start : start + BATCH], vectors[start : start + BATCH]
            )
            for start in range(0, len(chunks), BATCH)
        ],
    )


def vector_text(vector: NDArray[np.floating]) -> str:
    """As pgvector reads it."""
    return f"[{','.join(map(str, vector.tolist()))}]"


def _indexed_texts(document: DocumentConverted, title: str, chunk: Chunk) -> Iterator[str]:
    """What a chunk is found by: title, headings and content; and its document's file name, once."""
    yield title
    yield from (heading for heading in chunk.heading_path if heading != title)
    yield chunk.content
    if chunk.chunk_index == 0 and document.title is not None:
        yield document.name


def _batch(
    start: int, chunks: Sequence[Chunk], analyses: Sequence[Analysis], vectors: NDArray[np.float32]
) -> ChunkBatch:
    postings = [
        (position, term, frequency, analysis.length)
        for position, analysis in enumerate(analyses, start)
        for term, frequency in sorted(analysis.frequencies.items())
    ]
    return ChunkBatch(
        start=start,
        chunks=f"[{','.join(chunk.model_dump_json() for chunk in chunks)}]",
        # Terms hold no quote and no backslash: they are word characters, dots and hyphens.
        terms=_array(f'"{term}"' for _, term, _, _ in postings),
        positions=[position for position, _, _, _ in postings],
        frequencies=_array(frequency for _, _, frequency, _ in postings),
        lengths=_array(length for _, _, _, length in postings),
        embeddings=_array(f'"{vector_text(vector)}"' for vector in vectors.astype(np.float16)),
    )


def _array(values: Iterable[object]) -> str:
    return f"{{{','.join(map(str, values))}}}"
