"""The tables of refinement: a workspace's settings and budget, the chunks with their results, and the queues."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from psycopg.types.json import Jsonb

from knowledge_graph.refinement.findings import Findings
from knowledge_graph.refinement.records import (
    CallCost,
    CallOutcome,
    ChunkCounts,
    GoneChunk,
    HeldRefinement,
    HeldRegraph,
    PendingChunk,
    RefinementBudget,
    RefinementRow,
    StoredFindings,
    UnreadDocument,
)
from service_kit.repository import Repository
from service_kit.statements import Statements
from service_kit.work import WorkTable

MOST_ATTEMPTS = 3
REFINEMENT = WorkTable(
    "refinement",
    HeldRefinement,
    "knowledge_graph_refinement",
    key=("workspace_id",),
    waiting="work.enabled AND work.state = 'queued'",
    stop="NOT work.enabled",
)
REGRAPHING = WorkTable(
    "refinement_queue", HeldRegraph, "knowledge_graph_refinement_queue", key=("workspace_id", "document_id")
)
UNAPPLIED = """FROM refinement_chunk AS chunk
LEFT JOIN refinement_result AS result
    ON result.workspace_id = chunk.workspace_id AND result.digest = chunk.digest AND result.state = 'done'
WHERE chunk.workspace_id = %(workspace_id)s AND chunk.applied <> (result.digest IS NOT NULL)"""


class RefinementSql(Statements, file="refinement.sql"):
    find: str
    change: str
    withdraw: str
    lock: str
    hold_awake: str
    wake: str
    budget: str
    spend: str


class Refinements(Repository):
    """A workspace's refinement: whether it is on, what it may spend, and its progress."""

    async def find(self) -> RefinementRow | None:
        """Returns the workspace's row; None if refinement was never configured."""
        return await self.one(RefinementSql.find, RefinementRow)

    async def change(self, *, enabled: bool, max_tokens: int | None) -> None:
        await self.run(RefinementSql.change, enabled=enabled, max_tokens=max_tokens)

    async def withdraw(self) -> None:
        """Turns refinement off and withdraws the lease."""
        await self.run(RefinementSql.withdraw)

    async def lock(self) -> None:
        await self.run(RefinementSql.lock)

    async def hold_awake(self) -> None:
        await self.run(RefinementSql.hold_awake)

    async def wake(self) -> None:
        """Queues the workspace's work again if it is idle and there are chunks to ask about."""
        await self.run(RefinementSql.wake)

    async def budget(self) -> RefinementBudget:
        return await self.one(RefinementSql.budget, RefinementBudget) or RefinementBudget(None, 0)

    async def spend(self, held: HeldRefinement, cost: CallCost, *, answered: bool, error: str | None) -> bool:
        """Records the cost of a call; returns whether the lease is still held."""
        return bool(
            await self.value(
                RefinementSql.spend,
                lease_token=held.lease_token,
                calls=cost.calls,
                input_tokens=cost.input_tokens,
                output_tokens=cost.output_tokens,
                answered=answered,
                error=error,
            )
        )


class RefinementChunkSql(Statements, file="chunks.sql", unapplied=UNAPPLIED):
    insert: str
    note_documents: str
    delete_documents: str
    delete: str
    unread_documents: str
    estimate: str
    next_pending: str
    lock_text: str
    results: str
    put_result: str
    mark_unapplied: str
    delete_orphaned_results: str
    delete_results: str
    queue_settled: str
    queue_unapplied: str
    count_unapplied: str
    is_unapplied: str
    delete_queued: str


class RefinementChunks(Repository):
    """The refinable chunks of graphed documents, and the results for their texts."""

    async def insert(self, document_ids: Sequence[UUID], columns: Mapping[str, Sequence[object]]) -> None:
        """Inserts chunks of these documents, which may have none."""
        await self.run(RefinementChunkSql.insert, **columns)
        await self.run(RefinementChunkSql.note_documents, document_ids=list(document_ids))

    async def delete(self, document_ids: Sequence[UUID]) -> list[GoneChunk]:
        """Deletes the documents' chunks; returns them."""
        return await self.all(RefinementChunkSql.delete, GoneChunk, document_ids=list(document_ids))

    async def delete_documents(self, document_ids: Sequence[UUID]) -> None:
        await self.run(RefinementChunkSql.delete_documents, document_ids=list(document_ids))

    async def unread_documents(self, limit: int) -> list[UnreadDocument]:
        return await self.all(RefinementChunkSql.unread_documents, UnreadDocument, limit=limit)

    async def counts(self, document_ids: Sequence[UUID] | None = None) -> ChunkCounts:
        ids = None if document_ids is None else list(document_ids)
        found = await self.one(RefinementChunkSql.estimate, ChunkCounts, document_ids=ids)
        assert found is not None, "the statement always returns a row"
        return found

    async def next_pending(
        self, after: tuple[UUID, int], excluded: Collection[bytes], limit: int
    ) -> list[PendingChunk]:
        """Returns chunks to ask about after a position, in document order, without the texts in `excluded`."""
        values = {"after_document": after[0], "after_number": after[1], "except": list(excluded), "limit": limit}
        return await self.all(RefinementChunkSql.next_pending, PendingChunk, **values)

    async def findings(self, digests: Sequence[bytes]) -> Mapping[bytes, Findings]:
        rows = await self.all(RefinementChunkSql.results, StoredFindings, digests=list(digests))
        return {bytes(row.digest): Findings.restored(row.found) for row in rows}

    async def record(self, digest: bytes, model: str, outcome: CallOutcome) -> None:
        """Stores the result of a call, unless no chunk has the text any more."""
        if not await self.values(RefinementChunkSql.lock_text, digest=digest):
            return
        found = outcome.findings
        await self.run(
            RefinementChunkSql.put_result,
            digest=digest,
            state="done" if found else "failed" if outcome.final else "again",
            found=Jsonb(found.stored()) if found else None,
            model=model,
            error=outcome.error,
            most_attempts=MOST_ATTEMPTS,
        )
        if found:
            await self.run(RefinementChunkSql.mark_unapplied, digest=digest)
        await self.run(RefinementChunkSql.queue_settled, digest=digest)

    async def delete_orphaned_results(self, gone: Sequence[GoneChunk]) -> set[bytes]:
        """Deletes the results of chunks whose texts no other chunk has; returns their digests."""
        digests = [one.digest for one in gone]
        return set(await self.values(RefinementChunkSql.delete_orphaned_results, digests=digests)) if gone else set()

    async def delete_results(self) -> int:
        return await self.run(RefinementChunkSql.delete_results)

    async def queue_unapplied(self) -> int:
        """Queues the documents whose graph lacks available results; returns their number."""
        return await self.run(RefinementChunkSql.queue_unapplied)

    async def count_unapplied(self) -> int:
        return int(await self.value(RefinementChunkSql.count_unapplied))

    async def is_unapplied(self, document_id: UUID) -> bool:
        return bool(await self.value(RefinementChunkSql.is_unapplied, document_id=document_id))

    async def delete_queued(self, held: HeldRegraph) -> bool:
        """Deletes the document from the queue; returns False if it was queued again meanwhile."""
        values = {"document_id": held.document_id, "lease_token": held.lease_token, "sequence": held.sequence}
        return bool(await self.run(RefinementChunkSql.delete_queued, **values))
