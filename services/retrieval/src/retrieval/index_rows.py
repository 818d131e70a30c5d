"""A converted document as rows for COPY, without IO: the work of a thread, not of the event loop."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from contracts.events import DocumentConverted
from contracts.ingestion import Chunk
from retrieval.analysis import Analysis, Analyzer
from retrieval.errors import ConvertedInvalid

Row = tuple[object, ...]


@dataclass(frozen=True)
class Prepared:
    """A document ready to be written; `analyses` and `vectors` have one entry per chunk."""

    document: DocumentConverted
    chunks: Sequence[Chunk]
    analyses: Sequence[Analysis]
    vectors: NDArray[np.float32]
    title_terms: list[str]

    @property
    def term_count(self) -> int:
        return sum(analysis.length for analysis in self.analyses)

    def chunk_rows(self, workspace_id: UUID, document: int, numbers: Sequence[int]) -> Iterator[Row]:
        for number, chunk in zip(numbers, self.chunks, strict=True):
            yield (
                workspace_id, number, document, self.document.document_id, chunk.chunk_id, chunk.chunk_index,
                chunk.section_title, chunk.heading_path, chunk.content, chunk.page, chunk.page_end,
                list(chunk.box) if chunk.box else None, chunk.line_start, chunk.line_end,
            )  # fmt: skip

    def posting_lines(self, workspace_id: UUID, document: int, numbers: Sequence[int]) -> Iterator[str]:
        """COPY's text format, a block per chunk, in the order of the index. Terms have nothing to escape."""
        for number, analysis in zip(numbers, self.analyses, strict=True):
            rest = f"\t{number}\t{document}\t"
            yield "".join(
                f"{workspace_id}\t{term}{rest}{frequency}\t{analysis.length}\n"
                for term, frequency in sorted(analysis.frequencies.items())
            )

    def vector_lines(self, workspace_id: UUID, document: int, numbers: Sequence[int]) -> Iterator[str]:
        """COPY's text format, a line per chunk."""
        model = escaped(self.document.embedding_model)
        for number, vector in zip(numbers, self.vectors.astype(np.float16), strict=True):
            yield f"{workspace_id}\t{number}\t{document}\t{model}\t{vector_text(vector)}\n"


def prepare(document: DocumentConverted, chunks: bytes, vectors: bytes, analyzer: Analyzer) -> Prepared:
    """Reads the two objects and analyses the chunks. Raises ConvertedInvalid when they are not what the event says."""
    parsed = _chunks(document, chunks)
    title = document.title or document.name
    analyses = [analyzer.analyse(*_indexed_texts(document, title, chunk)) for chunk in parsed]
    title_terms = sorted(set(analyzer.terms(title)))
    return Prepared(document, parsed, analyses, _vectors(document, vectors), title_terms)


def _indexed_texts(document: DocumentConverted, title: str, chunk: Chunk) -> Iterator[str]:
    """What a chunk is found by: title, headings and content; and its document's file name, once."""
    yield title
    yield from (heading for heading in chunk.heading_path if heading != title)
    yield chunk.content
    if chunk.chunk_index == 0 and document.title is not None:
        yield document.name


def vector_text(vector: Sequence[float] | NDArray[np.floating]) -> str:
    """As pgvector reads it."""
    return f"[{','.join(map(str, np.asarray(vector).tolist()))}]"


def escaped(text: str) -> str:
    """For COPY's text format."""
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def _chunks(document: DocumentConverted, data: bytes) -> list[Chunk]:
    try:
        chunks = [Chunk.model_validate_json(line) for line in data.split(b"\n") if line.strip()]
    except ValidationError as error:
        first = json.dumps(error.errors(include_input=False, include_url=False)[0], default=str)
        raise ConvertedInvalid(f"a chunk cannot be read: {first}") from error
    if len(chunks) != document.chunk_count:
        raise ConvertedInvalid(f"there are {len(chunks)} chunks where {document.chunk_count} were announced")
    if any(chunk.document_id != document.document_id for chunk in chunks):
        raise ConvertedInvalid("a chunk belongs to another document")
    if any("\x00" in chunk.content for chunk in chunks):
        raise ConvertedInvalid("a chunk has a NUL character, which the database cannot hold")
    return chunks


def _vectors(document: DocumentConverted, data: bytes) -> NDArray[np.float32]:
    try:
        vectors = np.load(BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ConvertedInvalid(f"the vectors cannot be read: {error}") from error
    expected = (document.chunk_count, document.embedding_dims)
    if vectors.shape != expected:
        raise ConvertedInvalid(f"the vectors have the shape {vectors.shape} where {expected} was announced")
    if not np.isfinite(vectors).all():
        raise ConvertedInvalid("a vector has a value that is not finite")
    return np.asarray(vectors, np.float32)
