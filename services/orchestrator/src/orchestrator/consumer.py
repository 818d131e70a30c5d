"""Consumes events: detaches deleted documents from all sessions, deletes artifacts that show them, and confirms."""

from __future__ import annotations

from collections.abc import Mapping

from contracts.events import DocumentDeleted, DocumentPurged, Event
from contracts.registry import ORCHESTRATOR
from orchestrator.artifacts.repository import ArtifactRepository
from orchestrator.sessions.repository import AttachedDocuments
from service_kit.outbox import Outbox, first_time
from service_kit.postgres import Database
from service_kit.streams import Handler


class DocumentConsumer:
    """Handles events of documents."""

    def __init__(self, database: Database, outbox: Outbox) -> None:
        self.database, self.outbox = database, outbox

    @property
    def handlers(self) -> Mapping[str, Handler]:
        return {DocumentDeleted.event_type: self.deleted}

    async def deleted(self, event: Event) -> None:
        """Handles `document.deleted`; `document.purged` confirms it in the same transaction."""
        document_id = DocumentDeleted.model_validate(event.data).document_id
        async with self.database.workspace(event.workspace_id) as connection:
            if not await first_time(connection, event):
                return
            documents = AttachedDocuments(connection, event.workspace_id)
            shown, still_shown = await ArtifactRepository(connection, event.workspace_id).delete_of_document(
                document_id
            )
            purged = DocumentPurged(
                document_id=document_id,
                service=ORCHESTRATOR,
                removed={"session_documents": await documents.delete(document_id), "artifacts": shown},
                remaining={"session_documents": await documents.count(document_id), "artifacts": still_shown},
            )
            await self.outbox.write(connection, event.workspace_id, purged, str(document_id))
