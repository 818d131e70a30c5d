"""What conversion leaves in the object store, and the events that tell of it and of what is known of the document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from contracts.events import DocumentConverted, DocumentDescribed
from ingestion.documents.rows import DocumentRow
from service_kit.objects import derived_prefix


@dataclass(frozen=True)
class DerivedKeys:
    """The objects of one version of a document."""

    prefix: str

    @property
    def document(self) -> str:
        """The converted document as Docling's JSON."""
        return f"{self.prefix}document.json"

    @property
    def markdown(self) -> str:
        return f"{self.prefix}document.md"

    @property
    def chunks(self) -> str:
        """JSON Lines of `contracts.ingestion.Chunk`."""
        return f"{self.prefix}chunks.jsonl"

    @property
    def vectors(self) -> str:
        """NumPy .npy, float32, a row per chunk."""
        return f"{self.prefix}vectors.npy"


def derived_keys(workspace_id: UUID, document_id: UUID, version: int) -> DerivedKeys:
    return DerivedKeys(f"{derived_prefix(workspace_id, document_id)}v{version}/")


def converted_event(document: DocumentRow) -> DocumentConverted:
    """Of the newest version, with vectors when it has been embedded. Raises ValueError when it was not converted."""
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
    """The fields of `contracts.events.DocumentFacts`."""
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
