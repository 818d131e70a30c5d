"""The use cases of refinement: estimate, settings and budget, status, deletion of the results."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from contracts.graph_refinement import (
    DeletedResults,
    RefinementEstimate,
    RefinementSettings,
    RefinementSettingsUpdate,
    RefinementState,
    RefinementStatus,
)
from knowledge_graph.refinement.asking import RefinementPrompt, expected_answer_tokens
from knowledge_graph.refinement.errors import BudgetNeeded, NoChatModel
from knowledge_graph.refinement.records import RefinementRow
from knowledge_graph.refinement.store import RefinementChunks, Refinements
from knowledge_graph.refinement.texts import UnreadDocuments
from service_kit.postgres import Database
from service_kit.problems import PreconditionFailed

UNREAD_FOR_AN_ESTIMATE = 200
NEVER_CONFIGURED = RefinementRow(False, "waiting", None, 0, 0, 0, 0, None, None)


class Refinement:
    """`model` is the deployment's chat model, None if there is none; `answer_tokens` bounds an answer."""

    def __init__(
        self,
        database: Database,
        unread: UnreadDocuments,
        asking: RefinementPrompt,
        model: str | None,
        answer_tokens: int,
    ) -> None:
        self.database, self.unread, self.model = database, unread, model
        self.overhead_tokens, self.answer_tokens = asking.overhead_tokens, answer_tokens

    async def estimate(self, workspace_id: UUID, document_ids: Sequence[UUID] | None) -> RefinementEstimate:
        read_all = await self.unread.read(workspace_id, UNREAD_FOR_AN_ESTIMATE)
        async with self.database.workspace(workspace_id) as connection:
            found = await RefinementChunks(connection, workspace_id).counts(document_ids)
        input_tokens = found.calls * self.overhead_tokens + found.tokens
        most_output = found.calls * self.answer_tokens
        return RefinementEstimate(
            model=self.model,
            documents=found.documents,
            chunks=found.chunks,
            refined_chunks=found.refined_chunks,
            failed_chunks=found.failed_chunks,
            unread_documents=0 if read_all else await self.unread.count(workspace_id),
            calls=found.calls,
            input_tokens=input_tokens,
            output_tokens=min(found.calls * expected_answer_tokens(0) + found.tokens, most_output),
            most_output_tokens=most_output,
            most_tokens=input_tokens + most_output,
        )

    async def settings(self, workspace_id: UUID) -> RefinementSettings:
        async with self.database.workspace(workspace_id) as connection:
            return _settings(await Refinements(connection, workspace_id).find())

    async def change(
        self, workspace_id: UUID, change: RefinementSettingsUpdate, version: int | None
    ) -> RefinementSettings:
        """Changes the settings. Raises PreconditionFailed, NoChatModel, BudgetNeeded."""
        async with self.database.workspace(workspace_id) as connection:
            key = f"refinement/{workspace_id}"
            await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (key,))
            refinements = Refinements(connection, workspace_id)
            present = _settings(await refinements.find())
            if version is not None and version != present.version:
                raise PreconditionFailed(f"the refinement settings now have version {present.version}")
            changed = present.model_copy(update=change.model_dump(exclude_unset=True))
            if changed.enabled:
                if self.model is None:
                    raise NoChatModel("set CHAT_BASE_URL and CHAT_MODEL")
                if changed.max_tokens is None:
                    raise BudgetNeeded
            await refinements.change(enabled=bool(changed.enabled), max_tokens=changed.max_tokens)
            if present.enabled and not changed.enabled:
                await RefinementChunks(connection, workspace_id).queue_unapplied()
            return _settings(await refinements.find())

    async def status(self, workspace_id: UUID) -> RefinementStatus:
        async with self.database.workspace(workspace_id) as connection:
            row = await Refinements(connection, workspace_id).find() or NEVER_CONFIGURED
            chunks = RefinementChunks(connection, workspace_id)
            found, unapplied = await chunks.counts(), await chunks.count_unapplied()
        return RefinementStatus(
            enabled=row.enabled,
            state=RefinementState(row.state) if row.enabled else RefinementState.off,
            model=self.model,
            chunks=found.chunks,
            refined_chunks=found.refined_chunks,
            failed_chunks=found.failed_chunks,
            pending_chunks=found.chunks - found.refined_chunks - found.failed_chunks,
            unapplied_documents=unapplied,
            max_tokens=row.max_tokens,
            calls=row.calls,
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
            last_error=row.last_error,
            retry_at=row.retry_at,
        )

    async def delete_results(self, workspace_id: UUID) -> DeletedResults:
        """Deletes everything that the model found and turns refinement off; answers that arrive later are discarded."""
        async with self.database.workspace(workspace_id) as connection:
            await Refinements(connection, workspace_id).withdraw()
            chunks = RefinementChunks(connection, workspace_id)
            deleted = await chunks.delete_results()
            return DeletedResults(results=deleted, documents=await chunks.queue_unapplied())


def _settings(row: RefinementRow | None) -> RefinementSettings:
    row = row or NEVER_CONFIGURED
    return RefinementSettings(enabled=row.enabled, max_tokens=row.max_tokens, version=row.version)
