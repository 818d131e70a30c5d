"""The events that describe a document to other services."""

from __future__ import annotations

from typing import Any

from contracts.events import DocumentConverted, DocumentDescribed
from ingestion.documents.derived_objects import derived_keys
from ingestion.documents.rows import DocumentRow


def converted_event(document: DocumentRow) -> DocumentConverted:
    """Returns the event of the newest version, with vectors if it is embedded; ValueError if it is not converted."""
    if document.chunk_count is None:
        raise ValueError(f"document {document.id} has not been converted")
    keys = derived_keys(document.workspace_id, document.id, document.version)
    return DocumentConverted(
        **_facts(document),
        media_type=document.media_type,
        language=document.language,
        chunks_key=keys.chunks,
        chunk_count=document.chunk_count,
        vectors_key=keys.vectors if document.embedding_model else None,
        embedding_model=document.embedding_model,
        embedding_dims=document.embedding_dims,
    )


def described_event(document: DocumentRow) -> DocumentDescribed:
    return DocumentDescribed(**_facts(document))


def _facts(document: DocumentRow) -> dict[str, Any]:
    """Returns the fields of `contracts.events.DocumentFacts`."""
    source = {"name": document.source_name, "path": document.source_path, "uri": document.source_uri}
    metadata = {
        "authors": document.authors or None,
        "pages": document.pages,
        "file_size": document.file_size,
        "engine": document.engine,
        "source": {name: value for name, value in source.items() if value is not None},
    }
    return {
        "document_id": document.id,
        "version": document.version,
        "name": document.name,
        "title": document.title,
        "tags": document.tags,
        "source_type": document.source_type,
        "source_ids": document.source_ids,
        "written_at": document.written_at,
        "modified_at": document.modified_at,
        "metadata": {name: value for name, value in metadata.items() if value is not None},
    }
