"""Stores originals in the object store before their documents exist."""

from __future__ import annotations

from uuid import UUID

from contracts.ingestion import DocumentStatus
from contracts.object_keys import original_key
from ingestion.documents.documents import Content, Documents
from service_kit.objects import ObjectStore
from service_kit.postgres import Database


class OriginalStorage:
    """Stores and deletes originals. All methods raise Unavailable when a store does not respond."""

    def __init__(self, database: Database, objects: ObjectStore) -> None:
        self.database, self.objects = database, objects

    async def store(self, workspace_id: UUID, content: Content) -> None:
        """Stores the file unless a document already has these bytes; a failed document's object may be lost."""
        async with self.database.workspace(workspace_id) as connection:
            known = await Documents(connection, workspace_id).find_by_hash(content.content_hash)
        if known is None or known.status is DocumentStatus.failed:
            await self._put(workspace_id, content)

    async def store_if_missing(self, workspace_id: UUID, content: Content) -> None:
        """Stores the file if it was deleted since `store`. The caller holds the lock of its content."""
        if not await self.objects.aexists(original_key(workspace_id, content.content_hash)):
            await self._put(workspace_id, content)

    async def delete(self, workspace_id: UUID, content: Content) -> None:
        """Deletes the object of a file that was not taken in after all."""
        await self.objects.adelete([original_key(workspace_id, content.content_hash)])

    async def _put(self, workspace_id: UUID, content: Content) -> None:
        await self.objects.aput_file(original_key(workspace_id, content.content_hash), content.path, content.media_type)
