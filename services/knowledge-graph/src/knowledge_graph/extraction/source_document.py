"""Reads the object that holds a document's chunks."""

from __future__ import annotations

from knowledge_graph.extraction.code import is_source_code
from knowledge_graph.extraction.records import SourceChunk, SourceDocument
from service_kit.chunks import read_chunks


def read_document(name: str, title: str | None, language: str | None, content: bytes) -> SourceDocument:
    """Parses a chunk from each line of `content` and puts the chunks in order. Raises ValidationError."""
    chunks = tuple(
        SourceChunk(chunk.chunk_id, chunk.content, tuple(chunk.heading_path))
        for chunk in sorted(read_chunks([content]), key=lambda chunk: chunk.chunk_index)
    )
    return SourceDocument(name, title, is_source_code(name), chunks, language)
