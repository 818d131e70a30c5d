"""Consumes the events that other services publish about documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from contracts.events import (
    DocumentFailed,
    DocumentGraphed,
    DocumentIndexed,
    DocumentPurged,
    EmbeddingSpaceActivated,
    Event,
)
from contracts.ingestion import DocumentStatus
from contracts.registry import STAGE_OF_SERVICE
from ingestion.documents.catalog import Catalog, Catalogs
from ingestion.documents.deletions import Confirmation
from service_kit.outbox import first_time, first_times
from service_kit.streams import Handler, Together

GROUP = "ingestion"


class DocumentEvents:
    """Records confirmations and failures; ignores those of deleted documents.

    For older versions it only records that they are searchable.
    """

    def __init__(self, catalogs: Catalogs) -> None:
        self.catalogs = catalogs

    @property
    def handlers(self) -> Mapping[str, Handler]:
        return {
            DocumentIndexed.event_type: self.indexed,
            DocumentGraphed.event_type: self.graphed,
            DocumentFailed.event_type: self.failed,
            DocumentPurged.event_type: self.purged,
            EmbeddingSpaceActivated.event_type: self.activated,
        }

    @property
    def together(self) -> Mapping[str, Together]:
        """Handlers of events that are cheaper to handle in batches."""
        return {
            DocumentIndexed.event_type: self.indexed_together,
            DocumentGraphed.event_type: self.graphed_together,
            DocumentPurged.event_type: self.purged_together,
        }

    async def indexed(self, event: Event) -> None:
        await self.indexed_together([event])

    async def indexed_together(self, events: Sequence[Event]) -> None:
        """Records that several documents of one workspace are indexed."""
        async with self.catalogs.open(events[0].workspace_id) as catalog:
            versions = await _locked(catalog, events)
            new = [DocumentIndexed.model_validate(one.data) for one in await first_times(catalog.connection, events)]
            indexed = [one for one in new if one.document_id in versions]
            await catalog.documents.confirm_index(indexed)
            newest = [one.document_id for one in indexed if one.version == versions[one.document_id]]
            confirmed = await catalog.stages.confirm(newest, "index", events[0].source)
            await catalog.documents.set_status(confirmed, DocumentStatus.searchable)

    async def graphed(self, event: Event) -> None:
        await self.graphed_together([event])

    async def graphed_together(self, events: Sequence[Event]) -> None:
        """Records that several documents of one workspace are in the graph."""
        async with self.catalogs.open(events[0].workspace_id) as catalog:
            versions = await _locked(catalog, events)
            new = [DocumentGraphed.model_validate(one.data) for one in await first_times(catalog.connection, events)]
            current = [one.document_id for one in new if versions.get(one.document_id) == one.version]
            await catalog.stages.confirm(current, "graph", events[0].source)

    async def failed(self, event: Event) -> None:
        """Marks the document as failed if its indexing failed; a failed graph leaves it searchable."""
        data = DocumentFailed.model_validate(event.data)
        stage = STAGE_OF_SERVICE.get(data.service)
        if stage is None:
            return
        async with self.catalogs.open(event.workspace_id) as catalog:
            document = await catalog.documents.lock(data.document_id)
            if not await first_time(catalog.connection, event) or document is None or document.version != data.version:
                return
            reason = data.error_class, data.error_message
            if not await catalog.stages.reject(document.id, stage, event.source, *reason):
                return
            if stage == "index" and document.searchable_version == document.version:
                # It was republished with vectors; its text is already indexed.
                await catalog.documents.fail_embedding(document.id)
            elif stage == "index":
                await catalog.documents.set_status([document.id], DocumentStatus.failed)

    async def purged(self, event: Event) -> None:
        await self.purged_together([event])

    async def purged_together(self, events: Sequence[Event]) -> None:
        """Records the confirmations of several deletions of one workspace."""
        async with self.catalogs.open(events[0].workspace_id) as catalog:
            new = [DocumentPurged.model_validate(one.data) for one in await first_times(catalog.connection, events)]
            if new:
                await catalog.deletions.confirm(
                    [Confirmation(one.document_id, one.service, one.removed, one.remaining) for one in new]
                )

    async def activated(self, event: Event) -> None:
        """Records the model with which workers embed the workspace's new documents; the latest choice wins."""
        data = EmbeddingSpaceActivated.model_validate(event.data)
        async with self.catalogs.open(event.workspace_id) as catalog:
            await catalog.documents.choose_embedding(data.model, data.dims, event.time)


async def _locked(catalog: Catalog, events: Sequence[Event]) -> dict[UUID, int]:
    """Locks the events' documents; returns the newest versions of those that still exist."""
    rows = await catalog.documents.lock_all([UUID(event.data["document_id"]) for event in events])
    return {row.id: row.version for row in rows}
