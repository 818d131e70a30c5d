"""Stores the chunks of graphed documents, and joins results with their graph. The caller opens the transaction."""

from __future__ import annotations

from collections.abc import Mapping
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
    connection: Connection, workspace_id: UUID, document_id: UUID, document: SourceDocument, extraction: Extraction
) -> Extraction:
    """Stores the chunks of a document that is being graphed; returns its extraction joined with the model's results.

    Deletes results for texts that no document has any more.
    """
    refinable = _refinable(document)
    refinements, chunks = Refinements(connection, workspace_id), RefinementChunks(connection, workspace_id)
    await refinements.hold_awake()
    found = await chunks.findings([one.digest for one in refinable])
    before = await chunks.delete(document_id)
    await _insert(chunks, document_id, refinable, found)
    await chunks.delete_orphaned_results(before)
    await refinements.wake()
    by_chunk = {one.chunk.chunk_id: found[one.digest] for one in refinable if one.digest in found}
    return join(extraction, document.chunks, by_chunk)


async def keep(connection: Connection, workspace_id: UUID, document_id: UUID, document: SourceDocument) -> None:
    """Stores the chunks of a document that was graphed without them; its graph has no results yet."""
    chunks = RefinementChunks(connection, workspace_id)
    await chunks.delete(document_id)
    await _insert(chunks, document_id, _refinable(document), {})


async def delete(connection: Connection, workspace_id: UUID, document_id: UUID) -> dict[str, int]:
    """Deletes the document's chunks, and results that no other document shares. Returns the counts."""
    chunks = RefinementChunks(connection, workspace_id)
    digests = await chunks.delete(document_id)
    results = await chunks.delete_orphaned_results(digests)
    await chunks.delete_document(document_id)
    return {"refinement_chunks": len(digests), "refinement_results": results}


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
    chunks: RefinementChunks, document_id: UUID, refinable: list[_Refinable], found: Mapping[bytes, Findings]
) -> None:
    await chunks.insert(
        document_id,
        numbers=[one.number for one in refinable],
        chunk_ids=[one.chunk.chunk_id for one in refinable],
        digests=[one.digest for one in refinable],
        tokens=[chunk_tokens(one.chunk.content) for one in refinable],
        applied=[one.digest in found for one in refinable],
    )
