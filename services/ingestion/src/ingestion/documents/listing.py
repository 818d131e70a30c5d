"""Builds what the API shows of documents: the detail of one, and the counts of all."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from contracts.ingestion import STAGES, DocumentDetail, DocumentStatus, DocumentSummary, Lane, WaitingForWorker
from ingestion.documents.catalog import Catalog, Catalogs
from ingestion.documents.explanation import Queue, explain
from ingestion.documents.workers import count_workers

LEAST_SPAN_SECONDS = 5.0


async def detail(catalogs: Catalogs, lease_seconds: float, workspace_id: UUID, document_id: UUID) -> DocumentDetail:
    """Returns a document with its origins, stages and explanation; raises DocumentNotFound."""
    async with catalogs.open(workspace_id) as catalog:
        document = await catalog.documents.find(document_id)
        rows = await catalog.stages.of_document(document_id)
        places = await catalog.origins.of_document(document_id)
        ahead = await catalog.stages.count_ahead(document_id)
    waits = any(row.waits_for_worker for row in rows)
    queue = Queue(ahead, await count_workers(catalogs.database, lease_seconds) if waits else 1)
    return DocumentDetail(
        **document.resource().model_dump(),
        headings=document.headings,
        origins=[one.resource() for one in places],
        stages=[row.resource() for row in rows],
        explanation=explain(document, rows, queue, datetime.now(UTC)),
    )


async def summary(catalog: Catalog, source_id: UUID | None, workers: int) -> DocumentSummary:
    """Counts the workspace's documents, or those of one source. `workers` is the number of live workers."""
    row = await catalog.documents.summarise(source_id)
    waiting = await catalog.stages.waiting()
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
        workers=workers,
        lanes={lane: waiting.get(lane, WaitingForWorker(documents=0, oldest_seconds=0)) for lane in Lane},
    )


def seconds_left(left: int, done: int, since: datetime | None, now: datetime) -> float | None:
    """Estimates the time for `left` documents from the number `done` since `since`; None without any."""
    if left == 0:
        return 0.0
    if since is None or done == 0:
        return None
    span = max((now - since).total_seconds(), LEAST_SPAN_SECONDS)
    return round(left * span / done, 1)
