"""The end of a source: its documents go with it, or stay as if they had been uploaded."""

from __future__ import annotations

from uuid import UUID

from psycopg.rows import scalar_row

from ingestion.documents.catalog import Catalog
from ingestion.sources.errors import SourceNotFound
from ingestion.sources.statements import SQL


async def delete_with_documents(catalog: Catalog, source_id: UUID) -> None:
    """A synchronisation that runs ends at its next heartbeat, and can take nothing from here on.

    Again for a deleted source it changes nothing. Raises SourceNotFound where there was none, or its documents stayed.
    """
    connection, key = catalog.connection, {"workspace_id": catalog.workspace_id, "source_id": source_id}
    if await catalog.delete_source(source_id):
        await connection.execute(SQL["forget_source_syncs"], key)
    elif (await connection.execute(SQL["was_deleted"], key)).rowcount == 0:
        raise SourceNotFound


async def delete_but_keep_documents(catalog: Catalog, source_id: UUID) -> None:
    """Raises SourceNotFound."""
    connection, key = catalog.connection, {"workspace_id": catalog.workspace_id, "source_id": source_id}
    if (await connection.execute(SQL["abandon_source"], key)).rowcount == 0:
        raise SourceNotFound
    await connection.execute(SQL["forget_source_syncs"], key)
    cursor = connection.cursor(row_factory=scalar_row)
    await cursor.execute(SQL["lock_documents"], key)
    document_ids: list[UUID] = await cursor.fetchall()
    await connection.execute(SQL["keep_as_uploads"], {**key, "document_ids": document_ids})
    await connection.execute(SQL["delete_origins"], key)
    await catalog.describe(document_ids)
