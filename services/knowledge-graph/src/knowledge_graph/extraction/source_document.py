"""Reads the object that holds a document's chunks."""

from __future__ import annotations

from knowledge_graph.extraction.code import is_source_code
from knowledge_graph.extraction.records import SourceChunk, SourceDocument
from service_kit.chunks import read_chunks

SAYS_ITS_DATE = frozenset({"md", "markdown", "txt", "eml", "html", "htm", "rst", "adoc", "org", "tex"})
"""Suffixes of formats whose date was written by a person; word processors keep the date of their template."""


def read_document(
    name: str, title: str | None, language: str | None, content: bytes, written: str | None = None
) -> SourceDocument:
    """Parses a chunk from each line of `content`, and sorts the chunks. Raises ValidationError."""
    chunks = tuple(
        SourceChunk(chunk.chunk_id, chunk.content, tuple(chunk.heading_path))
        for chunk in sorted(read_chunks([content]), key=lambda chunk: chunk.chunk_index)
    )
    says_date = name.rpartition(".")[2].lower() in SAYS_ITS_DATE
    return SourceDocument(name, title, is_source_code(name), chunks, language, written if says_date else None)
