"""Recovers work that a lost worker held, and events that a stream has lost."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from redis.asyncio import Redis

from contracts.events import DOCUMENTS, DocumentDeleted, DocumentFailed
from contracts.ingestion import DocumentStatus
from contracts.registry import CONFIRM_DOCUMENT_DELETION, INGESTION, STAGE_OF_SERVICE
from ingestion.documents.catalog import Catalog, Catalogs
from ingestion.documents.deletions import AllDeletions
from ingestion.documents.events import converted_event
from ingestion.documents.rows import DocumentKey, DocumentRow
from ingestion.documents.stages import LOST, AllStages, stage_work
from ingestion.documents.workers import Workers
from ingestion.settings import Settings
from ingestion.sources.syncs import sync_work
from service_kit.stream_entries import as_text
from service_kit.work import WorkQueue

OTHERS = [service for service in CONFIRM_DOCUMENT_DELETION if service != INGESTION]
SILENT_WORKER_SECONDS = 3600.0


class Recovery:
    """Runs at each tick of the dispatcher. Row locks and conditions make it safe in several replicas at once."""

    def __init__(self, catalogs: Catalogs, redis: Redis, settings: Settings) -> None:
        self.catalogs, self.redis, self.settings = catalogs, redis, settings

    async def run(self) -> None:
        await self.recover_lost_workers()
        await self.recover_lost_events()

    async def recover_lost_workers(self) -> None:
        """Requeues work whose lease has expired; fails work that has lost `max_losses` workers."""
        database, losses, lease = self.catalogs.database, self.settings.max_losses, self.settings.lease_seconds
        await WorkQueue(database, sync_work(losses), lease).recover()
        await WorkQueue(database, stage_work(losses), lease).recover()
        async with database.system() as connection:
            found = await AllStages(connection).lost()
            await Workers(connection).delete_silent(SILENT_WORKER_SECONDS)
        for key in found:
            async with self.catalogs.open(key.workspace_id) as catalog:
                await self._announce_lost(catalog, key.document_id)

    async def _announce_lost(self, catalog: Catalog, document_id: UUID) -> None:
        document = await catalog.documents.lock(document_id)
        if document is None:
            return  # it is being deleted
        failed = await catalog.stages.end_lost(document_id)
        if failed == "embed":
            await self._announce_unembedded(catalog, document)
        elif failed:
            await catalog.documents.set_status([document_id], DocumentStatus.failed)
            event = DocumentFailed(
                document_id=document_id,
                version=document.version,
                service=INGESTION,
                stage=failed,
                error_class="worker-lost",
                error_message=LOST.format(times=self.settings.max_losses),
            )
            await catalog.publish(document_id, event)

    async def _announce_unembedded(self, catalog: Catalog, document: DocumentRow) -> None:
        """Publishes a document that has chunks but no vectors, so that lexical search finds it."""
        await catalog.documents.record_embedding(document, None, None)
        if not await catalog.stages.is_announced(document.id):
            await catalog.stages.queue_confirmations(document.id)
            await catalog.publish(document.id, converted_event(await catalog.documents.find(document.id)))

    async def recover_lost_events(self) -> None:
        """Republishes events that were not confirmed although their consumers have nothing left to read."""
        wait = self.settings.reannounce_after_seconds
        for group, stage in STAGE_OF_SERVICE.items():
            async with self.catalogs.database.system() as connection:
                converted = await AllStages(connection).unanswered(stage, wait)
            for key in await self._lost(converted, group):
                async with self.catalogs.open(key.workspace_id) as catalog:
                    document = await catalog.documents.lock(key.document_id)
                    if await catalog.stages.announced_again(key.document_id, stage, wait) and document:
                        await catalog.publish(document.id, converted_event(document))
        async with self.catalogs.database.system() as connection:
            deleted = await AllDeletions(connection).unanswered(wait)
        for key in await self._lost(deleted, *OTHERS):
            async with self.catalogs.open(key.workspace_id) as catalog:
                if await catalog.deletions.announced_again(key.document_id, wait):
                    await catalog.publish(key.document_id, DocumentDeleted(document_id=key.document_id))

    async def _lost(self, unanswered: Sequence[DocumentKey], *groups: str) -> Sequence[DocumentKey]:
        """Returns `unanswered` if no group has anything left to read, else nothing."""
        return unanswered if unanswered and all([await self._is_idle(group) for group in groups]) else ()

    async def _is_idle(self, group: str) -> bool:
        """Returns whether the group has handled the whole stream, or Redis has lost the stream."""
        if not await self.redis.exists(DOCUMENTS):
            return True
        for found in await self.redis.xinfo_groups(DOCUMENTS):
            if as_text(found["name"]) == group:
                return int(found["pending"]) == 0 and found["lag"] == 0
        return False  # the consumer has not started yet, and will read from the beginning
