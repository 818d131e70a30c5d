"""Stores originals in the object store, before their documents exist."""

from __future__ import annotations

from uuid import UUID

from contracts.ingestion import DocumentStatus
from contracts.object_keys import original_key
from ingestion.documents.documents import Content, Documents
from service_kit.objects import ObjectStore
from service_kit.postgres import Database

SMALL_BYTES = 1 << 20  # stored within the transaction that takes the file in


class OriginalStorage:
    """Stores and deletes originals. All methods raise Unavailable when a store does not respond."""

    def __init__(self, database: Database, objects: ObjectStore) -> None:
        self.database, self.objects = database, objects

    async def store_large(self, workspace_id: UUID, content: Content) -> None:
        """Stores a large file before the transaction that takes it in, unless a document already has these bytes; a
        failed document's object may be lost.
        """
        if content.file_size <= SMALL_BYTES:
            return
        async with self.database.workspace(workspace_id) as connection:
            known = await Documents(connection, workspace_id).find_by_hash(content.content_hash)
        if known is None or known.status is DocumentStatus.failed:
            await self._put(workspace_id, content)

    async def store_if_missing(self, workspace_id: UUID, content: Content) -> None:
        """Stores a small file, and a large one that was deleted since `store_large`. The caller holds the lock of its
        content.
        """
        key = original_key(workspace_id, content.content_hash)
        if content.file_size <= SMALL_BYTES or not await self.objects.aexists(key):
            await self._put(workspace_id, content)

    async def delete(self, workspace_id: UUID, content: Content) -> None:
        """Deletes the object of a file that was not taken in after all."""
        await self.objects.adelete([original_key(workspace_id, content.content_hash)])

    async def _put(self, workspace_id: UUID, content: Content) -> None:
        await self.objects.aput_file(original_key(workspace_id, content.content_hash), content.path, content.media_type)
