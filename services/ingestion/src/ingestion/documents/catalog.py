"""The documents of one workspace, and the operations on them, within one transaction."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID, uuid4

from contracts.events import DocumentDeleted, DocumentStored, EventData
from contracts.ingestion import Lane, OriginKind
from contracts.object_keys import original_key
from ingestion.documents.deletions import Deletions
from ingestion.documents.documents import Content, DescribedRow, Documents
from ingestion.documents.errors import DocumentNotFound
from ingestion.documents.events import described_event
from ingestion.documents.origins import Origins
from ingestion.documents.quotas import Quotas
from ingestion.documents.stages import Stages
from service_kit.outbox import Outbox
from service_kit.postgres import Connection, Database

DELETION_BATCH = 1000


class Catalog:
    """The tables of a workspace's documents. Changes and their events commit together with the transaction."""

    def __init__(self, connection: Connection, workspace_id: UUID, outbox: Outbox) -> None:
        self.connection, self.workspace_id, self.outbox = connection, workspace_id, outbox
        self.documents = Documents(connection, workspace_id)
        self.stages = Stages(connection, workspace_id)
        self.origins = Origins(connection, workspace_id)
        self.deletions = Deletions(connection, workspace_id)
        self.quotas = Quotas(connection, workspace_id)

    async def publish(self, document_id: UUID, event: EventData) -> None:
        await self.outbox.write(self.connection, self.workspace_id, event, str(document_id))

    async def create(self, content: Content, kind: OriginKind, lane: Lane) -> UUID:
        """Creates a document and queues it. The caller locks the content first and writes an origin afterwards."""
        document_id = uuid4()
        await self.documents.insert(document_id, content, kind)
        await self.stages.insert(document_id, lane, content.received_at)
        await self._publish_stored(document_id, content)
        return document_id

    async def begin_version(self, document_id: UUID, content: Content, lane: Lane) -> None:
        """Gives a locked document a new version and queues it. Search serves the previous one until it is indexed."""
        await self.documents.begin_version(document_id, content)
        await self.stages.restart(document_id, lane, content.received_at)
        await self._publish_stored(document_id, content)

    async def describe(self, document_ids: Sequence[UUID]) -> list[DescribedRow]:
        """Updates the source fields of locked documents from their origins, and publishes those that changed."""
        rows = await self.documents.describe(document_ids)
        for row in rows:
            if row.changed:
                await self.publish(row.id, described_event(row))
        return rows

    async def give(self, document_id: UUID, title: str | None, tags: Sequence[str] | None) -> None:
        """Gives a document a title or tags, and publishes them if it is converted. Raises DocumentNotFound."""
        await self.documents.lock_existing(document_id)
        row = await self.documents.give(document_id, title, tags)
        if row.chunk_count is not None:
            await self.publish(document_id, described_event(row))

    async def delete(self, document_id: UUID) -> None:
        """Deletes a document; its sources do not bring it back. Deleting it again changes nothing.

        After the commit it is invisible, and its deletion in every service is certain. Raises DocumentNotFound.
        """
        if await self.documents.lock(document_id):
            await self.deletions.exclude_origins(document_id)
            await self.delete_locked([document_id])
        elif await self.deletions.find(document_id) is None:
            raise DocumentNotFound

    async def delete_locked(self, document_ids: Sequence[UUID], source_id: UUID | None = None) -> None:
        """Deletes locked documents with their origins; `source_id` is given if they are deleted with their source."""
        await self.deletions.begin(document_ids, source_id)
        deleted = [(DocumentDeleted(document_id=one), str(one)) for one in document_ids]
        await self.outbox.write_all(self.connection, self.workspace_id, deleted)

    async def delete_source(self, source_id: UUID) -> bool:
        """Deletes a source and the documents that come only from it; returns False if there is no such source.

        Waits for intakes in progress from the source; later ones are refused. Tens of thousands of documents take a
        few seconds, in one transaction.
        """
        document_ids = await self.deletions.begin_of_source(source_id)
        if document_ids is None:
            return False
        for start in range(0, len(document_ids), DELETION_BATCH):
            batch = document_ids[start : start + DELETION_BATCH]
            alone = await self.deletions.without_origin(batch)
            await self.delete_locked([one for one in batch if one in alone], source_id)
            await self.describe([one for one in batch if one not in alone])
        return True

    async def delete_without_origin(self, document_id: UUID) -> bool:
        """Deletes a locked document if it has lost its last origin; returns whether it was deleted."""
        if await self.origins.count(document_id):
            await self.describe([document_id])
            return False
        await self.delete_locked([document_id])
        return True

    async def _publish_stored(self, document_id: UUID, content: Content) -> None:
        event = DocumentStored(
            document_id=document_id,
            name=content.name,
            object_key=original_key(self.workspace_id, content.content_hash),
            bytes=content.file_size,
            content_hash=content.content_hash,
        )
        await self.publish(document_id, event)


@dataclass(frozen=True)
class Catalogs:
    database: Database
    outbox: Outbox

    @asynccontextmanager
    async def open(self, workspace_id: UUID) -> AsyncIterator[Catalog]:
        """Opens a transaction on the workspace's documents."""
        async with self.database.workspace(workspace_id) as connection:
            yield Catalog(connection, workspace_id, self.outbox)
