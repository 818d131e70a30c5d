"""Runs documents again, from the stage that failed or was cancelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from contracts.ingestion import DocumentStatus, EmbeddingStatus, Lane, StageName, StageStatus
from ingestion.documents import documents
from ingestion.documents.derived import converted_event
from ingestion.documents.rows import DocumentRow, StageRow
from ingestion.statements import SQL
from service_kit.outbox import Outbox
from service_kit.postgres import Connection
from service_kit.tracing import outgoing_headers

ENDED = frozenset({StageStatus.failed, StageStatus.cancelled})


@dataclass(frozen=True)
class Plan:
    """What to queue again, and whether the others are to be told of the document again."""

    requeue: list[StageName] = field(default_factory=list)
    announce: bool = False

    @property
    def is_empty(self) -> bool:
        return not self.requeue


def plan(document: DocumentRow, stages: Sequence[StageRow]) -> Plan:
    """Pure. A stage that is put off after an outage is due at once.

    Conversion and chunks are made by one process and stored together: when chunking failed, conversion runs again.
    Indexing and the graph are done elsewhere, from what is stored: they are told of the document again.
    """
    ended = {stage.name for stage in stages if stage.status in ENDED}
    put_off = {stage.name for stage in stages if stage.next_attempt_at}
    chunks_are_gone = any(stage.error_class == "chunks-missing" for stage in stages)
    if ended & {"convert", "chunk"} or "convert" in put_off or chunks_are_gone:
        return Plan(["convert"])
    status = {stage.name: stage.status for stage in stages}
    # Stored vectors that the index does not have are of another model than the workspace is searched with.
    unindexed = (
        document.embedding_status is not EmbeddingStatus.complete
        and status["embed"] is StageStatus.succeeded
        and status["index"] is StageStatus.succeeded
    )
    requeue: list[StageName] = ["embed"] if "embed" in ended | put_off or unindexed else []
    told: list[StageName] = [name for name in ("index", "graph") if name in ended]
    return Plan([*requeue, *told], announce=bool(told))


async def retry(
    connection: Connection, outbox: Outbox, workspace_id: UUID, document_ids: Sequence[UUID], lane: Lane
) -> int:
    """Queues what can be tried again of the documents, and locks them; returns of how many."""
    rows = await documents.lock_all(connection, workspace_id, document_ids)
    return await _retry(connection, outbox, workspace_id, rows, lane)


async def revive(connection: Connection, outbox: Outbox, document: DocumentRow, lane: Lane) -> None:
    """Another chance for a locked document that failed or was cancelled, as somebody brings its bytes again."""
    if document.status in {DocumentStatus.failed, DocumentStatus.cancelled}:
        await _retry(connection, outbox, document.workspace_id, [document], lane)


async def _retry(
    connection: Connection, outbox: Outbox, workspace_id: UUID, rows: Sequence[DocumentRow], lane: Lane
) -> int:
    stages = await documents.stages_of_all(connection, workspace_id, [row.id for row in rows])
    plans = {row.id: found for row in rows if not (found := plan(row, stages[row.id])).is_empty}
    wanted = [(document_id, name) for document_id, found in plans.items() for name in found.requeue]
    if not wanted:
        return 0
    values = {
        "workspace_id": workspace_id,
        "document_ids": [document_id for document_id, _ in wanted],
        "names": [name for _, name in wanted],
        "lane": lane,
        "traceparent": outgoing_headers().get("traceparent"),
    }
    await connection.execute(SQL["requeue_stages"], values)
    await connection.execute(SQL["resume_documents"], values)
    for row in rows:
        if row.id in plans and plans[row.id].announce:
            await outbox.write(connection, workspace_id, converted_event(row), str(row.id))
    return len(plans)
