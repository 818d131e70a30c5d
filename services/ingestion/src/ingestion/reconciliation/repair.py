"""Repairs drift. Every repair is idempotent."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from contracts.events import DocumentDeleted
from contracts.ingestion import DocumentStatus, StageName
from ingestion.documents.catalog import Catalogs
from ingestion.documents.events import converted_event
from ingestion.reconciliation.drift import Drift, DriftKind
from service_kit.objects import ObjectStore

CONFIRMED: dict[DriftKind, StageName] = {
    DriftKind.not_indexed: "index",
    DriftKind.index_differs: "index",
    DriftKind.not_graphed: "graph",
}
AFTER_CONVERSION: tuple[StageName, ...] = ("chunk", "embed", "index", "graph")


class Repair:
    """Queues repairs; the pipeline then converts, indexes, graphs and deletes as usual."""

    def __init__(self, catalogs: Catalogs, objects: ObjectStore) -> None:
        self.catalogs, self.objects = catalogs, objects

    async def repair(self, workspace_id: UUID, found: Iterable[Drift]) -> int:
        """Returns how many repairs were queued; skips drift without a remedy."""
        return sum([await self._repair(workspace_id, drift) for drift in found])

    async def _repair(self, workspace_id: UUID, drift: Drift) -> bool:
        if drift.kind is DriftKind.object_orphan:
            return await self.objects.adelete(drift.keys) > 0
        if drift.document_id is None or drift.kind is DriftKind.original_missing:
            return False
        async with self.catalogs.open(workspace_id) as catalog:
            document = await catalog.documents.lock(drift.document_id)
            if drift.kind in {DriftKind.index_orphan, DriftKind.graph_orphan}:
                if document is None:
                    await catalog.deletions.record_orphan(drift.document_id)
                    await catalog.publish(drift.document_id, DocumentDeleted(document_id=drift.document_id))
                return document is None
            if document is None or document.version != document.searchable_version:
                return False  # deleted meanwhile, or a later version is in progress
            if drift.kind is DriftKind.derived_missing:
                await catalog.stages.requeue([(document.id, "convert")])
                await catalog.stages.reset(document.id, AFTER_CONVERSION)
                await catalog.documents.set_status([document.id], DocumentStatus.processing)
            else:
                await catalog.stages.requeue([(document.id, CONFIRMED[drift.kind])])
                await catalog.publish(document.id, converted_event(document))
        return True
