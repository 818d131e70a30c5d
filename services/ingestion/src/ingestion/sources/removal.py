"""Deletes sources, together with their documents or keeping these as uploads."""

from __future__ import annotations

from uuid import UUID

from ingestion.documents.catalog import Catalog
from ingestion.sources.errors import SourceNotFound
from ingestion.sources.sources import Sources
from ingestion.sources.syncs import Syncs


async def delete_with_documents(catalog: Catalog, source_id: UUID) -> None:
    """Deletes a source. A running synchronisation can take in nothing more and ends at its next heartbeat.

    Deleting it again changes nothing. Raises SourceNotFound if it never existed or was deleted without its documents.
    """
    if await catalog.delete_source(source_id):
        await Syncs(catalog.connection, catalog.workspace_id).delete_of_source(source_id)
    elif not await Sources(catalog.connection, catalog.workspace_id).was_deleted(source_id):
        raise SourceNotFound


async def delete_but_keep_documents(catalog: Catalog, source_id: UUID) -> None:
    """Deletes a source and keeps its documents as uploads. Raises SourceNotFound."""
    document_ids = await Sources(catalog.connection, catalog.workspace_id).abandon(source_id)
    await Syncs(catalog.connection, catalog.workspace_id).delete_of_source(source_id)
    await catalog.describe(document_ids)
