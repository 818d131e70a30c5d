"""Retries and cancels documents, by id or by filter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from contracts.ingestion import (
    ActionResult,
    DocumentFilter,
    DocumentStatus,
    EmbeddingStatus,
    Lane,
    StageName,
    StageStatus,
)
from ingestion.documents.catalog import Catalog, Catalogs
from ingestion.documents.events import converted_event
from ingestion.documents.rows import DocumentRow, StageRow

BATCH = 500
ENDED = frozenset({StageStatus.failed, StageStatus.cancelled})


@dataclass(frozen=True)
class RetryPlan:
    """The stages to queue again, and whether to republish the document for the stages that other services run."""

    requeue: tuple[StageName, ...] = ()
    announce: bool = False


def plan_retry(document: DocumentRow, stages: Sequence[StageRow]) -> RetryPlan:
    """Returns what a retry queues again. A stage that was postponed after an outage becomes due at once.

    Conversion and chunking run in one process and are stored together, so a failed chunking repeats the conversion.
    Indexing and graphing happen in other services, so the document is republished to them.
    """
    ended = {stage.name for stage in stages if stage.status in ENDED}
    postponed = {stage.name for stage in stages if stage.next_attempt_at}
    chunks_are_gone = any(stage.error_class == "chunks-missing" for stage in stages)
    if ended & {"convert", "chunk"} or "convert" in postponed or chunks_are_gone:
        return RetryPlan(("convert",))
    status = {stage.name: stage.status for stage in stages}
    # If the index lacks vectors that are stored, they come from another model than the one the workspace now uses.
    unindexed = (
        document.embedding_status is not EmbeddingStatus.complete
        and status["embed"] is StageStatus.succeeded
        and status["index"] is StageStatus.succeeded
    )
    own: tuple[StageName, ...] = ("embed",) if "embed" in ended | postponed or unindexed else ()
    others: tuple[StageName, ...] = ("index", "graph")
    others = tuple(name for name in others if name in ended)
    return RetryPlan(own + others, announce=bool(others))


async def retry(catalog: Catalog, document_ids: Sequence[UUID], lane: Lane) -> int:
    """Locks the documents and queues what can be retried; returns how many documents were affected."""
    return await _retry(catalog, await catalog.documents.lock_all(document_ids), lane)


async def retry_ended(catalog: Catalog, document: DocumentRow, lane: Lane) -> None:
    """Retries a locked document whose bytes were sent again, if it had failed or been cancelled."""
    if document.status in {DocumentStatus.failed, DocumentStatus.cancelled}:
        await _retry(catalog, [document], lane)


async def _retry(catalog: Catalog, documents: Sequence[DocumentRow], lane: Lane) -> int:
    stages = await catalog.stages.of_documents([document.id for document in documents])
    plans = {document.id: plan_retry(document, stages[document.id]) for document in documents}
    requeued = [(document_id, name) for document_id, plan in plans.items() for name in plan.requeue]
    if requeued:
        await catalog.stages.requeue(requeued, lane)
        await catalog.documents.resume(requeued)
    for document in documents:
        if plans[document.id].announce:
            await catalog.publish(document.id, converted_event(document))
    return sum(bool(plan.requeue) for plan in plans.values())


async def cancel(catalog: Catalog, document_ids: Sequence[UUID]) -> int:
    """Locks the documents and cancels their queued and running stages; returns how many documents were affected.

    Workers lose their leases. A searchable version stays searchable; indexing and graphing that other services have
    been asked for are not cancelled.
    """
    locked = await catalog.documents.lock_all(document_ids)
    stopped = await catalog.stages.cancel([document.id for document in locked])
    await catalog.documents.cancel(list(stopped))
    return len(stopped)


async def for_all(
    catalogs: Catalogs,
    workspace_id: UUID,
    chosen: DocumentFilter,
    action: Callable[[Catalog, Sequence[UUID]], Awaitable[int]],
) -> ActionResult:
    """Applies an action to every matching document, one transaction per batch.

    The action returns how many of the documents it changed.
    """
    done = passed_over = 0
    after: UUID | None = None
    while True:
        async with catalogs.open(workspace_id) as catalog:
            ids = await catalog.documents.choose(chosen, after, BATCH)
            changed = await action(catalog, ids) if ids else 0
        done, passed_over = done + changed, passed_over + len(ids) - changed
        if len(ids) < BATCH:
            return ActionResult(done=done, passed_over=passed_over)
        after = ids[-1]
