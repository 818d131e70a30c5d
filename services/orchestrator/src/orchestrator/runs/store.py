"""Every query over runs: the queue, the leases, the end of a run."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from contracts.events import TurnCompleted
from contracts.orchestrator import AnswerMode, Run, RunStatus
from orchestrator.errors import LeaseLost, RunNotFound
from orchestrator.runs.records import Answer, CancelOutcome, ClaimedRun, Progress, RunRow, SaidBefore
from service_kit import queries
from service_kit.auth import Principal
from service_kit.outbox import Outbox
from service_kit.postgres import Database

QUEUED, CANCELLED = "orchestrator_run_queued", "orchestrator_run_cancelled"
NEWEST_MESSAGES = 41


class RunStore:
    """What callers do with runs is bound to their workspace; only claiming looks across all of them."""

    def __init__(self, database: Database, outbox: Outbox, lease_seconds: float) -> None:
        self.database, self.outbox, self.lease_seconds = database, outbox, lease_seconds
        self.sql = queries.load("orchestrator.runs")

    async def get(self, caller: Principal, run_id: UUID) -> Run:
        """Raises RunNotFound."""
        values = {"workspace_id": caller.workspace_id, "user_id": caller.user_id, "id": run_id}
        async with self.database.workspace(caller.workspace_id) as connection:
            cursor = connection.cursor(row_factory=class_row(RunRow))
            await cursor.execute(self.sql["get_run"], values)
            row = await cursor.fetchone()
        if row is None:
            raise RunNotFound
        return row.run()

    async def cancel(self, caller: Principal, run_id: UUID) -> CancelOutcome | None:
        """None where there was nothing to cancel: the run has ended, or is not the caller's."""
        values = {"workspace_id": caller.workspace_id, "user_id": caller.user_id, "id": run_id}
        async with self.database.workspace(caller.workspace_id) as connection:
            cursor = connection.cursor(row_factory=class_row(CancelOutcome))
            await cursor.execute(self.sql["cancel_run"], values)
            return await cursor.fetchone()

    async def claim(self, owner: str, limit: int) -> list[ClaimedRun]:
        """Leases up to `limit` runs of any workspace to this process."""
        values = {"owner": owner, "limit": limit, "lease_seconds": self.lease_seconds}
        async with self.database.system() as connection:
            cursor = connection.cursor(row_factory=class_row(ClaimedRun))
            await cursor.execute(self.sql["claim_runs"], values)
            return await cursor.fetchall()

    async def extend(self, run: ClaimedRun, progress: Progress) -> bool:
        """True where the run is to be cancelled. Raises LeaseLost."""
        async with self.database.workspace(run.workspace_id) as connection:
            cursor = await connection.execute(
                self.sql["extend_lease"], {**_leased(run, progress), "lease_seconds": self.lease_seconds}
            )
            row = await cursor.fetchone()
        if row is None:
            raise LeaseLost
        return bool(row[0])

    async def release(self, run: ClaimedRun, progress: Progress, *, refund: bool, delay_seconds: float = 0.0) -> None:
        """Puts the run back into the queue. `refund`: the attempt does not count."""
        values = {**_leased(run, progress), "refund": int(refund), "delay_seconds": delay_seconds}
        async with self.database.workspace(run.workspace_id) as connection:
            await connection.execute(self.sql["release_run"], values)

    async def load_turn(self, run: ClaimedRun) -> list[SaidBefore]:
        """The turn's question first, then what was said before it, newest first. Raises LeaseLost where it is gone."""
        values = {"workspace_id": run.workspace_id, "id": run.id, "limit": NEWEST_MESSAGES}
        async with self.database.workspace(run.workspace_id) as connection:
            cursor = connection.cursor(row_factory=class_row(SaidBefore))
            await cursor.execute(self.sql["load_turn"], values)
            found = await cursor.fetchall()
        if not found:
            raise LeaseLost
        return found

    async def complete(self, run: ClaimedRun, progress: Progress, answer: Answer) -> bool:
        """Answer, status, title and `turn.completed` in one transaction.

        False where the lease is lost or a cancel came: then nothing of it lands.
        """
        async with self.database.workspace(run.workspace_id) as connection:
            finish = {**_leased(run, progress), **_outcome(RunStatus.completed, mode=answer.mode)}
            if (await connection.execute(self.sql["finish_run"], finish)).rowcount != 1:
                return False
            values = {
                "workspace_id": run.workspace_id,
                "message_id": answer.message_id,
                "session_id": run.session_id,
                "run_id": run.id,
                "content": answer.content,
                "citations": Jsonb([citation.model_dump(mode="json") for citation in answer.citations]),
                "removed_citations": answer.removed_citations,
                "mode": answer.mode,
                "title": answer.title,
            }
            await connection.execute(self.sql["add_answer"], values)
            await connection.execute(self.sql["touch_session"], values)
            await self.outbox.write(connection, run.workspace_id, _turn_completed(run, answer), str(run.id))
        return True

    async def fail(self, run: ClaimedRun, progress: Progress, error_type: str, message: str) -> bool:
        """False where the lease is lost."""
        return await self._end(run, progress, _outcome(RunStatus.failed, error_type=error_type, error_message=message))

    async def cancelled(self, run: ClaimedRun, progress: Progress) -> bool:
        """False where the lease is lost."""
        return await self._end(run, progress, _outcome(RunStatus.cancelled))

    async def _end(self, run: ClaimedRun, progress: Progress, end: dict[str, Any]) -> bool:
        async with self.database.workspace(run.workspace_id) as connection:
            return (await connection.execute(self.sql["finish_run"], {**_leased(run, progress), **end})).rowcount == 1


def _leased(run: ClaimedRun, progress: Progress) -> dict[str, Any]:
    return {
        "workspace_id": run.workspace_id,
        "id": run.id,
        "lease_token": run.lease_token,
        "node_trace": progress.node_trace,
        "issues": progress.issues,
    }


def _outcome(
    status: RunStatus,
    mode: AnswerMode | None = None,
    error_type: str | None = None,
    error_message: str | None = None,
) -> dict[str, Any]:
    return {"status": status, "mode": mode, "error_type": error_type, "error_message": error_message}


def _turn_completed(run: ClaimedRun, answer: Answer) -> TurnCompleted:
    return TurnCompleted(
        session_id=run.session_id,
        run_id=run.id,
        user_id=run.created_by,
        question=answer.question[:10_000],
        answer=answer.content[:10_000],
        document_ids=sorted({citation.document_id for citation in answer.citations}),
    )
