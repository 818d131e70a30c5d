"""Consumes events: detaches deleted documents from all sessions, deletes artifacts that show them, and confirms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contracts.events import DocumentDeleted, DocumentPurged, Event
from contracts.registry import ORCHESTRATOR
from orchestrator.artifacts.repository import ArtifactRepository
from orchestrator.sessions.repository import AttachedDocuments
from service_kit.outbox import Outbox, first_times
from service_kit.postgres import Database
from service_kit.streams import Handler, Together


class DocumentConsumer:
    """Handles events of documents."""

    def __init__(self, database: Database, outbox: Outbox) -> None:
        self.database, self.outbox = database, outbox

    @property
    def handlers(self) -> Mapping[str, Handler]:
        return {DocumentDeleted.event_type: self.deleted}

    @property
    def together(self) -> Mapping[str, Together]:
        """Handlers of events that are cheaper to handle in batches."""
        return {DocumentDeleted.event_type: self.deleted_together}

    async def deleted(self, event: Event) -> None:
        """Handles `document.deleted`; `document.purged` confirms it in the same transaction."""
        await self.deleted_together([event])

    async def deleted_together(self, events: Sequence[Event]) -> None:
        """Handles several deletions of one workspace in one transaction."""
        workspace_id = events[0].workspace_id
        async with self.database.workspace(workspace_id) as connection:
            new = await first_times(connection, events)
            if not new:
                return
            document_ids = [DocumentDeleted.model_validate(event.data).document_id for event in new]
            documents = AttachedDocuments(connection, workspace_id)
            shown, still_shown = await ArtifactRepository(connection, workspace_id).delete_of_documents(document_ids)
            attached = await documents.delete(document_ids)
            still_attached = await documents.count(document_ids)
            purged = [
                DocumentPurged(
                    document_id=one,
                    service=ORCHESTRATOR,
                    removed={"session_documents": attached[one], "artifacts": shown[one]},
                    remaining={"session_documents": still_attached[one], "artifacts": still_shown[one]},
                )
                for one in document_ids
            ]
            await self.outbox.write_all(connection, workspace_id, [(one, str(one.document_id)) for one in purged])
