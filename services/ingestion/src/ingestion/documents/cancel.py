"""Stops what waits for a worker or is at hand. What is told already, the index and the graph, cannot be recalled."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from ingestion.documents import documents
from ingestion.statements import SQL
from service_kit.postgres import Connection


async def cancel(connection: Connection, workspace_id: UUID, document_ids: Sequence[UUID]) -> int:
    """Locks the documents and cancels their queued and running stages; returns of how many there were any.

    A worker loses its lease. A version that search serves goes on to be served; a document whose words are indexed
    stays searchable without its embedding.
    """
    locked = await documents.lock_all(connection, workspace_id, document_ids)
    key = {"workspace_id": workspace_id, "document_ids": [row.id for row in locked]}
    rows = await (await connection.execute(SQL["cancel_stages"], key)).fetchall()
    stopped = {row[0] for row in rows}
    await connection.execute(SQL["cancel_documents"], {**key, "document_ids": list(stopped)})
    return len(stopped)
