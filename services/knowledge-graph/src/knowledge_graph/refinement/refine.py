"""What the routes ask: estimates, status, failures, removal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

from psycopg.rows import class_row

from contracts.graph_refinement import (
    FailedChunk,
    RefinementEstimate,
    RefinementRun,
    RefinementState,
    RefinementStatus,
    RemovedResults,
)
from knowledge_graph.refinement.asking import Asking, expected_answer_tokens
from knowledge_graph.refinement.chunks import QUERIES
from knowledge_graph.refinement.errors import NoChatModel
from knowledge_graph.refinement.pricing import Prices
from knowledge_graph.refinement.records import START, Estimated, FailureRow, RunRow
from knowledge_graph.refinement.run_store import RunStore
from knowledge_graph.refinement.settings_store import RefinementSettingsStore
from knowledge_graph.refinement.texts import UnreadDocuments
from service_kit.postgres import Connection, Database

UNREAD_FOR_AN_ESTIMATE = 200
Place = tuple[UUID, int]


class Refinement:
    """`configured` is the deployment's chat model, None without one; `answer_tokens` bounds an answer."""

    def __init__(
        self,
        database: Database,
        unread: UnreadDocuments,
        asking: Asking,
        prices: Prices,
        configured: str | None,
        answer_tokens: int,
    ) -> None:
        self.database, self.unread, self.prices, self.configured = database, unread, prices, configured
        self.overhead_tokens, self.answer_tokens = asking.overhead_tokens, answer_tokens
        self.settings, self.runs = RefinementSettingsStore(database), RunStore(database)

    @property
    def model(self) -> str:
        """Raises NoChatModel."""
        if self.configured is None:
            raise NoChatModel("set CHAT_BASE_URL and CHAT_MODEL")
        return self.configured

    async def estimate(self, workspace_id: UUID, document_ids: Sequence[UUID] | None) -> RefinementEstimate:
        read_all = await self.unread.read(workspace_id, UNREAD_FOR_AN_ESTIMATE)
        async with self.database.workspace(workspace_id) as connection:
            found = await _estimated(connection, workspace_id, document_ids)
        input_tokens = found.calls * self.overhead_tokens + found.tokens
        output_tokens = found.calls * expected_answer_tokens(0) + found.tokens
        output_tokens = min(output_tokens, found.calls * self.answer_tokens)
        most_output = found.calls * self.answer_tokens
        return RefinementEstimate(
            model=self.configured,
            documents=found.documents,
            chunks=found.chunks,
            refined_chunks=found.refined_chunks,
            failed_chunks=found.failed_chunks,
            unread_documents=0 if read_all else await self.unread.count(workspace_id),
            calls=found.calls,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            most_output_tokens=most_output,
            most_tokens=input_tokens + most_output,
            cost=self.prices.cost(input_tokens, output_tokens),
            most_cost=self.prices.cost(input_tokens, most_output),
            currency=self.prices.shown_currency,
        )

    async def status(self, workspace_id: UUID) -> RefinementStatus:
        settings = await self.settings.get(workspace_id)
        newest = await self.runs.newest(workspace_id, None, 1)
        async with self.database.workspace(workspace_id) as connection:
            found = await _estimated(connection, workspace_id, None)
            cursor = await connection.execute(QUERIES["count_unapplied"], {"workspace_id": workspace_id})
            unapplied = int((await cursor.fetchone() or (0,))[0])
        return RefinementStatus(
            enabled=settings.enabled,
            model=self.configured,
            chunks=found.chunks,
            refined_chunks=found.refined_chunks,
            failed_chunks=found.failed_chunks,
            pending_chunks=found.chunks - found.refined_chunks - found.failed_chunks,
            unapplied_documents=unapplied,
            run=self.shown(newest[0]) if newest else None,
        )

    async def failures(self, workspace_id: UUID, after: Place | None, limit: int) -> list[FailureRow]:
        """In the order of documents."""
        document, number = after or START
        values = {
            "workspace_id": workspace_id,
            "after_document": document,
            "after_number": number,
            "limit": limit,
        }
        async with (
            self.database.workspace(workspace_id) as connection,
            connection.cursor(row_factory=class_row(FailureRow)) as cursor,
        ):
            await cursor.execute(QUERIES["list_failures"], values)
            return await cursor.fetchall()

    async def replay(self, workspace_id: UUID, chunk_ids: Sequence[str] | None) -> int:
        """Failed passages are to be asked for again; returns how many."""
        values = {"workspace_id": workspace_id, "chunk_ids": None if chunk_ids is None else list(chunk_ids)}
        async with self.database.workspace(workspace_id) as connection:
            row = await (await connection.execute(QUERIES["replay"], values)).fetchone()
            await connection.execute(QUERIES["wake_run"], {"workspace_id": workspace_id})
        return int((row or (0,))[0])

    async def remove_results(self, workspace_id: UUID) -> RemovedResults:
        """Everything that the model found and failed at. A run that is not at its end is paused, and answers that are
        still to come are not kept."""
        async with self.database.workspace(workspace_id) as connection:
            await connection.execute(QUERIES["put_down_runs"], {"workspace_id": workspace_id})
            removed = await connection.execute("DELETE FROM refinement_result WHERE workspace_id = %s", (workspace_id,))
            queued = await connection.execute(QUERIES["queue_unapplied"], {"workspace_id": workspace_id})
            return RemovedResults(results=removed.rowcount, documents=queued.rowcount)

    def shown(self, run: RunRow) -> RefinementRun:
        values = asdict(run) | {"state": RefinementState(run.state)}
        cost = self.prices.cost(run.input_tokens, run.output_tokens)
        return RefinementRun(**values, cost=cost, currency=self.prices.shown_currency)


def shown_failure(row: FailureRow) -> FailedChunk:
    return FailedChunk(
        chunk_id=row.chunk_id,
        document_id=row.document_id,
        attempts=row.attempts,
        error=row.error,
        failed_at=row.failed_at,
    )


async def _estimated(connection: Connection, workspace_id: UUID, document_ids: Sequence[UUID] | None) -> Estimated:
    values = {"workspace_id": workspace_id, "document_ids": None if document_ids is None else list(document_ids)}
    async with connection.cursor(row_factory=class_row(Estimated)) as cursor:
        await cursor.execute(QUERIES["estimate"], values)
        found = await cursor.fetchone()
    assert found is not None, "the statement always gives a row"
    return found
