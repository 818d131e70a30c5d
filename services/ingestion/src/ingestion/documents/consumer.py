"""Consumes the events that other services publish about documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
from ingestion.documents.rows import DocumentRow
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
        return {DocumentPurged.event_type: self.purged_together}

    async def indexed(self, event: Event) -> None:
        data = DocumentIndexed.model_validate(event.data)
        async with self.catalogs.open(event.workspace_id) as catalog:
            document = await catalog.documents.lock(data.document_id)
            if not await first_time(catalog.connection, event) or document is None:
                return
            counts = {"vectors": data.vectors, "chunk_count": data.chunk_count}
            await catalog.documents.confirm_index(document.id, data.version, **counts)
            is_newest = data.version == document.version
            if is_newest and await catalog.stages.confirm(document.id, "index", event.source):
                await catalog.documents.set_status(document.id, DocumentStatus.searchable)

    async def graphed(self, event: Event) -> None:
        data = DocumentGraphed.model_validate(event.data)
        async with self.catalogs.open(event.workspace_id) as catalog:
            if document := await _current(catalog, event, data):
                await catalog.stages.confirm(document.id, "graph", event.source)

    async def failed(self, event: Event) -> None:
        """Marks the document as failed if its indexing failed; a failed graph leaves it searchable."""
        data = DocumentFailed.model_validate(event.data)
        stage = STAGE_OF_SERVICE.get(data.service)
        if stage is None:
            return
        async with self.catalogs.open(event.workspace_id) as catalog:
            document = await _current(catalog, event, data)
            if document is None or not await catalog.stages.reject(
                document.id, stage, event.source, data.error_class, data.error_message
            ):
                return
            if stage == "index" and document.searchable_version == document.version:
                # It was republished with vectors; its text is already indexed.
                await catalog.documents.fail_embedding(document.id)
            elif stage == "index":
                await catalog.documents.set_status(document.id, DocumentStatus.failed)

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


async def _current(catalog: Catalog, event: Event, data: DocumentGraphed | DocumentFailed) -> DocumentRow | None:
    """Returns the event's document, locked; None if it is gone, has another version, or the event is a repeat."""
    document = await catalog.documents.lock(data.document_id)
    if not await first_time(catalog.connection, event) or document is None or document.version != data.version:
        return None
    return document
