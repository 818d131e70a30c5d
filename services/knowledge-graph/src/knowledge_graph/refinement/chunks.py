"""Stores the chunks of graphed documents, and joins results with their graph. The caller opens the transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from knowledge_graph.extraction.records import Extraction, SourceChunk, SourceDocument
from knowledge_graph.refinement.asking import chunk_tokens, digest_of, is_worth_asking
from knowledge_graph.refinement.findings import Findings
from knowledge_graph.refinement.joining import join
from knowledge_graph.refinement.store import RefinementChunks, Refinements
from service_kit.postgres import Connection


@dataclass(frozen=True)
class _Refinable:
    """A chunk that can be refined; `number` is its position in the document."""

    number: int
    chunk: SourceChunk
    digest: bytes


async def join_results(
    connection: Connection, workspace_id: UUID, extracted: Mapping[UUID, tuple[SourceDocument, Extraction]]
) -> dict[UUID, Extraction]:
    """Stores the chunks of documents that are being graphed; returns their extractions joined with the model's results.

    Deletes results for texts that no document has any more.
    """
    refinable = {one: _refinable(document) for one, (document, _) in extracted.items()}
    refinements, chunks = Refinements(connection, workspace_id), RefinementChunks(connection, workspace_id)
    await refinements.hold_awake()
    found = await chunks.findings([one.digest for own in refinable.values() for one in own])
    before = await chunks.delete(list(extracted))
    await _insert(chunks, refinable, found)
    await chunks.delete_orphaned_results(before)
    await refinements.wake()
    joined = dict[UUID, Extraction]()
    for document_id, (document, extraction) in extracted.items():
        by_chunk = {one.chunk.chunk_id: found[one.digest] for one in refinable[document_id] if one.digest in found}
        joined[document_id] = join(extraction, document.chunks, by_chunk)
    return joined


async def keep(connection: Connection, workspace_id: UUID, document_id: UUID, document: SourceDocument) -> None:
    """Stores the chunks of a document that was graphed without them; its graph has no results yet."""
    chunks = RefinementChunks(connection, workspace_id)
    await chunks.delete([document_id])
    await _insert(chunks, {document_id: _refinable(document)}, {})


async def delete(
    connection: Connection, workspace_id: UUID, document_ids: Sequence[UUID]
) -> dict[UUID, dict[str, int]]:
    """Deletes the documents' chunks, and results that no other document shares.

    Returns the counts by document; a result that several of them share is counted for the first of these.
    """
    chunks = RefinementChunks(connection, workspace_id)
    gone = await chunks.delete(document_ids)
    orphaned = await chunks.delete_orphaned_results(gone)
    await chunks.delete_documents(document_ids)
    deleted = Counter(one.document_id for one in gone)
    results = Counter({one.digest: one.document_id for one in reversed(gone) if one.digest in orphaned}.values())
    return {one: {"refinement_chunks": deleted[one], "refinement_results": results[one]} for one in document_ids}


def _refinable(document: SourceDocument) -> list[_Refinable]:
    """Returns the chunks that can be refined; none of source code, which states its relations itself."""
    if document.is_code:
        return []
    return [
        _Refinable(number, chunk, digest_of(chunk.content))
        for number, chunk in enumerate(document.chunks)
        if is_worth_asking(chunk.content)
    ]


async def _insert(
    chunks: RefinementChunks, refinable: Mapping[UUID, Sequence[_Refinable]], found: Mapping[bytes, Findings]
) -> None:
    rows = [(document_id, one) for document_id, own in refinable.items() for one in own]
    await chunks.insert(
        list(refinable),
        {
            "document_ids": [document_id for document_id, _ in rows],
            "numbers": [one.number for _, one in rows],
            "chunk_ids": [one.chunk.chunk_id for _, one in rows],
            "digests": [one.digest for _, one in rows],
            "tokens": [chunk_tokens(one.chunk.content) for _, one in rows],
            "applied": [one.digest in found for _, one in rows],
        },
    )
