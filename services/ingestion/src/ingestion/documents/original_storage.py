"""Keeps originals in the object store before a document exists that needs them."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

from contracts.ingestion import DocumentStatus
from ingestion.documents import documents
from ingestion.documents.versions import Content
from service_kit.objects import ObjectStore, original_key
from service_kit.postgres import Database


class Originals:
    """All methods raise Unavailable when a store is away."""

    def __init__(self, database: Database, objects: ObjectStore) -> None:
        self.database, self.objects = database, objects

    async def store(self, workspace_id: UUID, path: Path, content: Content) -> None:
        """Unless a document has these bytes; again when its conversion failed, perhaps as the object was lost."""
        async with self.database.workspace(workspace_id) as connection:
            known = await documents.find_by_hash(connection, workspace_id, content.content_hash)
        if known is None or known.status is DocumentStatus.failed:
            await self._put(workspace_id, path, content)

    async def store_if_erased(self, workspace_id: UUID, path: Path, content: Content) -> None:
        """Under the lock of the content, before a document is written: an erasure may have come between."""
        if not await self.objects.aexists(original_key(workspace_id, content.content_hash)):
            await self._put(workspace_id, path, content)

    async def erase(self, workspace_id: UUID, content: Content) -> None:
        """What was stored for a workspace that was deleted meanwhile: its purge may have passed."""
        await self.objects.adelete([original_key(workspace_id, content.content_hash)])

    async def _put(self, workspace_id: UUID, path: Path, content: Content) -> None:
        await self.objects.aput_file(original_key(workspace_id, content.content_hash), path, content.media_type)
