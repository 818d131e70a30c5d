"""Events in: what the other services have done with a document."""

from __future__ import annotations

from collections.abc import Mapping

from contracts.events import (
    DocumentFailed,
    DocumentGraphed,
    DocumentIndexed,
    DocumentPurged,
    EmbeddingSpaceActivated,
    Event,
)
from contracts.ingestion import DocumentStatus, StageName
from contracts.registry import STAGE_OF_SERVICE
from ingestion.documents import deletion, documents
from ingestion.documents.rows import DocumentRow
from ingestion.statements import SQL
from service_kit.outbox import first_time
from service_kit.postgres import Connection, Database
from service_kit.streams import Handler

GROUP = "ingestion"


class DocumentEvents:
    """Enters confirmations and failures. Those of a document that is gone change nothing.

    Of a version before the newest only that it is searchable counts.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    @property
    def handlers(self) -> Mapping[str, Handler]:
        return {
            DocumentIndexed.event_type: self.indexed,
            DocumentGraphed.event_type: self.graphed,
            DocumentFailed.event_type: self.failed,
            DocumentPurged.event_type: self.purged,
            EmbeddingSpaceActivated.event_type: self.activated,
        }

    async def indexed(self, event: Event) -> None:
        data = DocumentIndexed.model_validate(event.data)
        async with self.database.workspace(event.workspace_id) as connection:
            document = await documents.lock(connection, event.workspace_id, data.document_id)
            if not await first_time(connection, event) or document is None:
                return
            key = {"workspace_id": event.workspace_id, "document_id": document.id, "version": data.version}
            counts = {"vectors": data.vectors, "chunk_count": data.chunk_count}
            await connection.execute(SQL["confirm_index"], {**key, **counts})
            if data.version == document.version and await _confirm(connection, document, "index", event.source):
                await documents.set_status(connection, document, DocumentStatus.searchable)

    async def graphed(self, event: Event) -> None:
        data = DocumentGraphed.model_validate(event.data)
        async with self.database.workspace(event.workspace_id) as connection:
            document = await _current(connection, event, data)
            if document:
                await _confirm(connection, document, "graph", event.source)

    async def failed(self, event: Event) -> None:
        """A document whose index failed has failed; one without a graph stays searchable."""
        data = DocumentFailed.model_validate(event.data)
        stage = STAGE_OF_SERVICE.get(data.service)
        if stage is None:
            return
        async with self.database.workspace(event.workspace_id) as connection:
            document = await _current(connection, event, data)
            if document is None:
                return
            values = {
                "workspace_id": document.workspace_id,
                "document_id": document.id,
                "name": stage,
                "worker": event.source,
                "error_class": data.error_class,
                "error_message": data.error_message,
            }
            changed = await connection.execute(SQL["reject_stage"], values)
            if changed.rowcount == 0 or stage != "index":
                return
            if document.searchable_version == document.version:
                # Told again with its vectors: its words are indexed.
                key = {"workspace_id": document.workspace_id, "document_id": document.id}
                await connection.execute(SQL["fail_embedding"], key)
            else:
                await documents.set_status(connection, document, DocumentStatus.failed)

    async def purged(self, event: Event) -> None:
        data = DocumentPurged.model_validate(event.data)
        async with self.database.workspace(event.workspace_id) as connection:
            if await first_time(connection, event):
                await deletion.confirm(
                    connection, event.workspace_id, data.document_id, data.service, data.removed, data.remaining
                )

    async def activated(self, event: Event) -> None:
        """What workers embed new documents of the workspace with from now on; the latest choice counts."""
        data = EmbeddingSpaceActivated.model_validate(event.data)
        async with self.database.workspace(event.workspace_id) as connection:
            values = {"workspace_id": event.workspace_id, "model": data.model, "dims": data.dims}
            await connection.execute(SQL["choose_embedding"], {**values, "told_at": event.time})


async def _current(connection: Connection, event: Event, data: DocumentGraphed | DocumentFailed) -> DocumentRow | None:
    """The document that the event is about, locked; None when there is nothing to do."""
    document = await documents.lock(connection, event.workspace_id, data.document_id)
    if not await first_time(connection, event) or document is None or document.version != data.version:
        return None
    return document


async def _confirm(connection: Connection, document: DocumentRow, stage: StageName, worker: str) -> bool:
    values = {"workspace_id": document.workspace_id, "document_id": document.id, "name": stage, "worker": worker}
    return (await connection.execute(SQL["confirm_stage"], values)).rowcount == 1
