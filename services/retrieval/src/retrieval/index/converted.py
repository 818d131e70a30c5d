"""Reads and checks the objects of a converted document. No IO."""

from __future__ import annotations

import json
from io import BytesIO

import numpy as np
from pydantic import ValidationError

from contracts.base import storable
from contracts.events import DocumentConverted
from contracts.ingestion import Chunk
from retrieval.errors import ConvertedInvalid
from retrieval.index.preparation import ChunkVectors
from retrieval.lexical.postings import ORDINAL_BITS
from service_kit import chunks as chunk_lines

MOST_CHUNKS = 1 << ORDINAL_BITS


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
