"""What a converted document's event says for its graph, and the events that answer it."""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256

from contracts.events import DocumentConverted, DocumentFacts, DocumentFailed, DocumentGraphed
from knowledge_graph.extraction.records import SourceDocument
from knowledge_graph.extraction.source_document import read_document
from knowledge_graph.recording.provenance import KnownGraph, MadeFrom

SERVICE = "knowledge-graph"


def source_of(data: DocumentConverted, content: bytes) -> MadeFrom:
    """Returns what a graph of these chunks is made from."""
    return MadeFrom(
        data.version,
        data.name,
        data.title,
        data.language,
        data.chunks_key,
        sha256(content).hexdigest(),
        _day(data.written_at),
        folder_of(data),
    )


def document_of(source: MadeFrom, content: bytes) -> SourceDocument:
    """Reads the chunks."""
    return read_document(source.place, source.title, source.language, content, source.written)


def confirmed(known: KnownGraph) -> DocumentGraphed:
    """Returns the event that confirms the graph."""
    return DocumentGraphed(
        document_id=known.document_id, version=known.version, entities=known.entities, relations=known.relations
    )


def failure_of(data: DocumentConverted, error_class: str, message: str) -> DocumentFailed:
    """Returns the event that the document cannot be graphed."""
    return DocumentFailed(
        document_id=data.document_id,
        version=data.version,
        service=SERVICE,
        stage="graph",
        error_class=error_class,
        error_message=message,
    )


def folder_of(data: DocumentFacts) -> str:
    """Returns the folder of the file's path in its source; "" if the path does not end in the file's name or begins
    with a digest."""
    source = data.metadata.get("source")
    path = source.get("path") if isinstance(source, dict) else None
    folder, _, name = path.rpartition("/") if isinstance(path, str) else ("", "", "")
    return folder if name == data.name and ":" not in folder.rpartition("/")[2] else ""


def _day(moment: datetime | None) -> str | None:
    return None if moment is None else moment.date().isoformat()
