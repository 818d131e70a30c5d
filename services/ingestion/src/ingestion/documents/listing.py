"""What callers read of documents: pages of them, one in detail, and counts of all."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from uuid import UUID

from psycopg.rows import class_row

from contracts.ingestion import (
    STAGES,
    DocumentDetail,
    DocumentStatus,
    DocumentSummary,
    EmbeddingStatus,
    OriginKind,
)
from ingestion.documents import documents, origins
from ingestion.documents.explanation import Queue, explain
from ingestion.documents.rows import DocumentRow
from ingestion.documents.worker_count import count_workers
from ingestion.statements import SQL
from service_kit.postgres import Connection, Database

LEAST_SPAN_SECONDS = 5.0


@dataclass(frozen=True)
class Filters:
    """What is None does not limit. `name` matches anywhere in the name, in either case."""

    status: DocumentStatus | None = None
    name: str | None = None
    media_type: str | None = None
    source_id: UUID | None = None
    source_type: OriginKind | None = None
    tag: str | None = None
    embedding_status: EmbeddingStatus | None = None
    stale: bool | None = None


@dataclass(frozen=True)
class SummaryRow:
    total: int
    by_status: dict[str, int]
    by_stage: dict[str, int]
    embedding_failed: int
    failures: dict[str, int]
    queued_bytes: int
    done_last_minute: int
    done_lately: int
    done_since: datetime | None


async def page(
    connection: Connection,
    workspace_id: UUID,
    filters: Filters,
    before: tuple[datetime | None, UUID | None],
    limit: int,
) -> list[DocumentRow]:
    """Newest first."""
    values = {
        **asdict(filters),
        "name": filters.name and f"%{_literally(filters.name)}%",
        "workspace_id": workspace_id,
        "before": before[0],
        "before_id": before[1],
        "limit": limit,
    }
    async with connection.cursor(row_factory=class_row(DocumentRow)) as cursor:
        await cursor.execute(SQL["list_documents"], values)
        return await cursor.fetchall()


async def detail(database: Database, lease_seconds: float, workspace_id: UUID, document_id: UUID) -> DocumentDetail:
    """Raises DocumentNotFound."""
    async with database.workspace(workspace_id) as connection:
        document = await documents.find(connection, workspace_id, document_id)
        rows = await documents.stages(connection, workspace_id, document_id)
        places = await origins.of_document(connection, workspace_id, document_id)
        key = {"workspace_id": workspace_id, "document_id": document_id}
        counted = await (await connection.execute(SQL["count_ahead"], key)).fetchone()
    ahead = int(counted[0]) if counted else 0
    waits = any(row.waits_for_worker for row in rows)
    queue = Queue(ahead, await count_workers(database, lease_seconds) if waits else 1)
    return DocumentDetail(
        **document.resource().model_dump(),
        headings=document.headings,
        origins=[one.resource() for one in places],
        stages=[row.resource() for row in rows],
        explanation=explain(document, rows, queue, datetime.now(UTC)),
    )


async def summary(connection: Connection, workspace_id: UUID, source_id: UUID | None) -> DocumentSummary:
    """Of the workspace, or of the documents of one source."""
    values = {"workspace_id": workspace_id, "source_id": source_id}
    async with connection.cursor(row_factory=class_row(SummaryRow)) as cursor:
        await cursor.execute(SQL["summarise_documents"], values)
        row = await cursor.fetchone()
    assert row is not None
    left = row.by_status.get(DocumentStatus.processing, 0)
    return DocumentSummary(
        total=row.total,
        by_status={status: row.by_status.get(status, 0) for status in DocumentStatus},
        by_stage={stage: row.by_stage.get(stage, 0) for stage in STAGES},
        embedding_failed=row.embedding_failed,
        failures=row.failures,
        queued_bytes=row.queued_bytes,
        done_last_minute=row.done_last_minute,
        seconds_left=seconds_left(left, row.done_lately, row.done_since, datetime.now(UTC)),
    )


def seconds_left(left: int, done: int, since: datetime | None, now: datetime) -> float | None:
    """For `left` documents at the rate of those `done` since `since`; None when there is no rate to go by."""
    if left == 0:
        return 0.0
    if since is None or done == 0:
        return None
    span = max((now - since).total_seconds(), LEAST_SPAN_SECONDS)
    return round(left * span / done, 1)


def _literally(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
