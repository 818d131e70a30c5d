"""Brings together what has drifted apart. Every repair may be repeated."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from contracts.events import DocumentDeleted
from contracts.ingestion import DocumentStatus, StageName
from ingestion.documents import documents
from ingestion.documents.derived import converted_event
from ingestion.documents.rows import DocumentRow
from ingestion.reconciliation.drift import Drift, DriftKind
from service_kit.objects import ObjectStore
from service_kit.outbox import Outbox
from service_kit.postgres import Connection, Database

CONFIRMED: dict[DriftKind, StageName] = {
    DriftKind.not_indexed: "index",
    DriftKind.index_differs: "index",
    DriftKind.not_graphed: "graph",
}
AFTER_CONVERSION: tuple[StageName, ...] = ("chunk", "embed", "index", "graph")


class Repair:
    """Writes what the pipeline then does: it converts, indexes, graphs and erases as for any document."""

    def __init__(self, database: Database, objects: ObjectStore, outbox: Outbox) -> None:
        self.database, self.objects, self.outbox = database, objects, outbox

    async def repair(self, workspace_id: UUID, found: Iterable[Drift]) -> int:
        """Returns how many were begun; those without a remedy are passed over."""
        return sum([await self._repair(workspace_id, drift) for drift in found])

    async def _repair(self, workspace_id: UUID, drift: Drift) -> bool:
        if drift.kind is DriftKind.object_orphan:
            return await self.objects.adelete(drift.keys) > 0
        if drift.document_id is None or drift.kind is DriftKind.original_missing:
            return False
        async with self.database.workspace(workspace_id) as connection:
            document = await documents.lock(connection, workspace_id, drift.document_id)
            if drift.kind in {DriftKind.index_orphan, DriftKind.graph_orphan}:
                if document is None:
                    event = DocumentDeleted(document_id=drift.document_id)
                    await self.outbox.write(connection, workspace_id, event, str(drift.document_id))
                return document is None
            if document is None or document.version != document.searchable_version:
                return False  # deleted since, or a later version is on its way
            await self._again(connection, document, drift.kind)
        return True

    async def _again(self, connection: Connection, document: DocumentRow, kind: DriftKind) -> None:
        if kind is DriftKind.derived_missing:
            await documents.requeue(connection, document, "convert")
            for later in AFTER_CONVERSION:
                await documents.reset(connection, document, later)
            await documents.set_status(connection, document, DocumentStatus.processing)
            return
        await documents.requeue(connection, document, CONFIRMED[kind])
        await self.outbox.write(connection, document.workspace_id, converted_event(document), str(document.id))
