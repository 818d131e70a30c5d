"""The operations of callers and workers on runs, each in one transaction."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from contracts.events import TurnCompleted
from contracts.orchestrator import Run, RunStatus
from orchestrator.errors import RunNotFound
from orchestrator.runs.records import CancelOutcome, ClaimedRun, RunProgress, TurnAnswer, TurnInput
from orchestrator.runs.repository import WorkspaceRuns
from service_kit.auth import Principal
from service_kit.outbox import Outbox
from service_kit.postgres import Database
from service_kit.work import LeaseLost, StopAsked, WorkQueue


class RunStore:
    """Each transition of a claimed run is guarded by its lease, and raises LeaseLost without it."""

    def __init__(self, database: Database, outbox: Outbox, queue: WorkQueue[ClaimedRun]) -> None:
        self.database, self.outbox, self.queue = database, outbox, queue

    async def get(self, caller: Principal, run_id: UUID) -> Run:
        """Raises RunNotFound."""
        async with self.database.workspace(caller.workspace_id) as connection:
            run = await WorkspaceRuns(connection, caller.workspace_id).find(caller, run_id)
        if run is None:
            raise RunNotFound
        return run

    async def cancel(self, caller: Principal, run_id: UUID) -> CancelOutcome | None:
        """Returns None if there was nothing to cancel: the run has ended, or is not the caller's."""
        async with self.database.workspace(caller.workspace_id) as connection:
            return await WorkspaceRuns(connection, caller.workspace_id).cancel(caller, run_id)

    async def load_turn(self, run: ClaimedRun) -> TurnInput:
        """Raises LeaseLost if the run is gone."""
        async with self.database.workspace(run.workspace_id) as connection:
            runs = WorkspaceRuns(connection, run.workspace_id)
            messages = await runs.messages(run.id)
            if not messages:
                raise LeaseLost
            return TurnInput(messages, await runs.document_ids(run.id))

    async def complete(self, run: ClaimedRun, progress: RunProgress, answer: TurnAnswer) -> None:
        """Stores answer, status, title and `turn.completed` together. Raises StopAsked if a cancel came before."""
        async with self.database.workspace(run.workspace_id) as connection:
            if await self.queue.extend(connection, run):
                raise StopAsked
            await self.queue.finish(connection, run, RunStatus.completed, mode=answer.mode, **progress.columns())
            await WorkspaceRuns(connection, run.workspace_id).add_answer(run, answer)
            await self.outbox.write(connection, run.workspace_id, _turn_completed(run, answer), str(run.id))

    async def end(
        self,
        run: ClaimedRun,
        progress: RunProgress,
        status: RunStatus,
        error_type: str | None = None,
        error_message: str | None = None,
    ) -> None:
        """Ends the run without an answer."""
        columns = {**progress.columns(), "error_type": error_type, "error_message": error_message}
        async with self.database.workspace(run.workspace_id) as connection:
            await self.queue.finish(connection, run, status, **columns)

    async def release(
        self, run: ClaimedRun, progress: RunProgress, *, refund: bool, delay_seconds: float = 0.0
    ) -> None:
        """Puts the run back into the queue. `refund`: the attempt costs nothing."""
        columns: dict[str, Any] = {**progress.columns(), "attempts_left": run.attempts_left + int(refund)}
        async with self.database.workspace(run.workspace_id) as connection:
            await self.queue.release(connection, run, delay_seconds=delay_seconds, **columns)


def _turn_completed(run: ClaimedRun, answer: TurnAnswer) -> TurnCompleted:
    return TurnCompleted(
        session_id=run.session_id,
        run_id=run.id,
        user_id=run.created_by,
        question=answer.question[:10_000],
        answer=answer.content[:10_000],
        document_ids=sorted({citation.document_id for citation in answer.citations}),
    )
