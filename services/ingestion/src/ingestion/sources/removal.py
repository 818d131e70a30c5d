"""The end of a source: its documents are deleted with it, or stay as if they had been uploaded."""

from __future__ import annotations

from uuid import UUID

from ingestion.documents.catalog import Catalog
from ingestion.sources.errors import SourceNotFound
from ingestion.sources.sources import Sources
from ingestion.sources.syncs import Syncs


async def delete_with_documents(catalog: Catalog, source_id: UUID) -> None:
    """Deletes a source; a running synchronisation ends at its next heartbeat, and can take nothing from here on.

    Deleting it again changes nothing. Raises SourceNotFound where there was none, or its documents stayed.
    """
    if await catalog.delete_source(source_id):
        await Syncs(catalog.connection, catalog.workspace_id).delete_of_source(source_id)
    elif not await Sources(catalog.connection, catalog.workspace_id).was_deleted(source_id):
        raise SourceNotFound


async def delete_but_keep_documents(catalog: Catalog, source_id: UUID) -> None:
    """Raises SourceNotFound."""
    document_ids = await Sources(catalog.connection, catalog.workspace_id).abandon(source_id)
    await Syncs(catalog.connection, catalog.workspace_id).delete_of_source(source_id)
    await catalog.describe(document_ids)
