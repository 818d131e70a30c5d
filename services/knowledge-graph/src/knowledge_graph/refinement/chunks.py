"""The passages of graphed documents, and what was found in them. The caller opens the transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from knowledge_graph.extraction.records import Extraction, SourceChunk, SourceDocument
from knowledge_graph.refinement.asking import digest_of, is_worth_asking, passage_tokens
from knowledge_graph.refinement.findings import Findings
from knowledge_graph.refinement.joining import join
from service_kit.postgres import Connection
from service_kit.queries import load

QUERIES = load("knowledge_graph.refinement")


@dataclass(frozen=True)
class _Text:
    number: int
    passage: SourceChunk
    digest: bytes


async def take_up(
    connection: Connection, workspace_id: UUID, document_id: UUID, document: SourceDocument, extraction: Extraction
) -> Extraction:
    """Of a document that is being graphed: keeps its passages and joins what was found in their texts.

    Results for texts that no document has any more are removed.
    """
    texts = _texts(document)
    # A run does not go to rest before what this document brings can be seen; what it spends is not held up.
    await connection.execute(
        "SELECT FROM refinement_run WHERE workspace_id = %s AND state IN ('running', 'waiting') FOR KEY SHARE",
        (workspace_id,),
    )
    found = await _found(connection, workspace_id, [text.digest for text in texts])
    before = await _remove_chunks(connection, workspace_id, document_id)
    await _insert_chunks(connection, workspace_id, document_id, texts, found)
    await _remove_orphans(connection, workspace_id, before)
    await connection.execute(QUERIES["wake_run"], {"workspace_id": workspace_id})
    by_chunk = {text.passage.chunk_id: found[text.digest] for text in texts if text.digest in found}
    return join(extraction, document.chunks, by_chunk)


async def note(connection: Connection, workspace_id: UUID, document_id: UUID, document: SourceDocument) -> None:
    """Of a document that was graphed before its passages were kept: keeps them; its graph holds no results yet."""
    await _remove_chunks(connection, workspace_id, document_id)
    await _insert_chunks(connection, workspace_id, document_id, _texts(document), {})


async def forget(connection: Connection, workspace_id: UUID, document_id: UUID) -> dict[str, int]:
    """Removes the document's passages, and results that no other document shares. Returns what went."""
    before = await _remove_chunks(connection, workspace_id, document_id)
    results = await _remove_orphans(connection, workspace_id, before)
    document = (workspace_id, document_id)
    for statement in (
        "DELETE FROM refinement_document WHERE workspace_id = %s AND document_id = %s",
        "DELETE FROM refinement_queue WHERE workspace_id = %s AND document_id = %s",
    ):
        await connection.execute(statement, document)
    return {"refinement_chunks": len(before), "refinement_results": results}


def _texts(document: SourceDocument) -> list[_Text]:
    """Source code says what it says by itself: a model would be paid for repeating it."""
    if document.is_code:
        return []
    return [
        _Text(number, passage, digest_of(passage.content))
        for number, passage in enumerate(document.chunks)
        if is_worth_asking(passage.content)
    ]


async def _found(connection: Connection, workspace_id: UUID, digests: Sequence[bytes]) -> dict[bytes, Findings]:
    cursor = await connection.execute(
        "SELECT digest, found FROM refinement_result "
        "WHERE workspace_id = %s AND digest = ANY(%s::bytea[]) AND state = 'done'",
        (workspace_id, list(digests)),
    )
    return {bytes(digest): Findings.restored(found) for digest, found in await cursor.fetchall()}


async def _remove_chunks(connection: Connection, workspace_id: UUID, document_id: UUID) -> list[bytes]:
    """Returns the digests of their texts."""
    cursor = await connection.execute(
        "DELETE FROM refinement_chunk WHERE workspace_id = %s AND document_id = %s RETURNING digest",
        (workspace_id, document_id),
    )
    return [bytes(row[0]) for row in await cursor.fetchall()]


async def _insert_chunks(
    connection: Connection,
    workspace_id: UUID,
    document_id: UUID,
    texts: Sequence[_Text],
    found: Mapping[bytes, Findings],
) -> None:
    document = {"workspace_id": workspace_id, "document_id": document_id}
    columns = {
        "numbers": [text.number for text in texts],
        "chunk_ids": [text.passage.chunk_id for text in texts],
        "digests": [text.digest for text in texts],
        "tokens": [passage_tokens(text.passage.content) for text in texts],
        "applied": [text.digest in found for text in texts],
    }
    await connection.execute(QUERIES["insert_chunks"], document | columns)
    await connection.execute(
        "INSERT INTO refinement_document (workspace_id, document_id) VALUES (%s, %s) ON CONFLICT DO NOTHING",
        (workspace_id, document_id),
    )


async def _remove_orphans(connection: Connection, workspace_id: UUID, digests: Sequence[bytes]) -> int:
    if not digests:
        return 0
    values = {"workspace_id": workspace_id, "digests": list(digests)}
    return (await connection.execute(QUERIES["remove_orphaned_results"], values)).rowcount
