"""Reads the object that holds a document's chunks."""

from __future__ import annotations

from contracts.ingestion import Chunk
from knowledge_graph.extraction.code import is_source_code
from knowledge_graph.extraction.records import Passage, SourceDocument


def read_document(name: str, title: str | None, content: bytes) -> SourceDocument:
    """`content` has a chunk in each line; the passages are in their order. Raises ValidationError."""
    chunks = [Chunk.model_validate_json(line) for line in content.decode().splitlines() if line.strip()]
    passages = tuple(
        Passage(chunk.chunk_id, chunk.content, tuple(chunk.heading_path))
        for chunk in sorted(chunks, key=lambda chunk: chunk.chunk_index)
    )
    return SourceDocument(name, title, is_source_code(name), passages)
