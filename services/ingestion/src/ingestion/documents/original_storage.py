"""Stores originals in the object store before a document needs them."""

from __future__ import annotations

from uuid import UUID

from contracts.ingestion import DocumentStatus
from contracts.object_keys import original_key
from ingestion.documents.documents import Content, Documents
from service_kit.objects import ObjectStore
from service_kit.postgres import Database


class OriginalStorage:
    """All methods raise Unavailable when a store does not answer."""

    def __init__(self, database: Database, objects: ObjectStore) -> None:
        self.database, self.objects = database, objects

    async def store(self, workspace_id: UUID, content: Content) -> None:
        """Stores the file unless a document has these bytes; again if that failed, as its object may be lost."""
        async with self.database.workspace(workspace_id) as connection:
            known = await Documents(connection, workspace_id).find_by_hash(content.content_hash)
        if known is None or known.status is DocumentStatus.failed:
            await self._put(workspace_id, content)

    async def store_if_missing(self, workspace_id: UUID, content: Content) -> None:
        """Stores the file, under the lock of its content, if it was deleted after `store`."""
        if not await self.objects.aexists(original_key(workspace_id, content.content_hash)):
            await self._put(workspace_id, content)

    async def delete(self, workspace_id: UUID, content: Content) -> None:
        """Deletes what was stored for a file that was not taken in after all."""
        await self.objects.adelete([original_key(workspace_id, content.content_hash)])

    async def _put(self, workspace_id: UUID, content: Content) -> None:
        await self.objects.aput_file(original_key(workspace_id, content.content_hash), content.path, content.media_type)
