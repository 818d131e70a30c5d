"""The runs of a workspace: what their users read and cancel, and what an attempt reads and leaves behind."""

from __future__ import annotations

from dataclasses import asdict
from uuid import UUID

from psycopg.types.json import Jsonb

from contracts.orchestrator import Message, Run
from orchestrator.runs.records import CancelOutcome, ClaimedRun, EarlierMessage, TurnAnswer
from service_kit.auth import Principal
from service_kit.repository import Repository
from service_kit.statements import Statements
from service_kit.work import WorkTable

QUEUED, CANCELLED = "orchestrator_run_queued", "orchestrator_run_cancelled"
NEWEST_MESSAGES = 41
MESSAGE_COLUMNS = ", ".join(Message.model_fields)

RUNS = WorkTable(
    "run",
    ClaimedRun,
    QUEUED,
    # The turns of a session are answered one after the other, so that each sees the answers before it.
    claimable="""NOT EXISTS (
        SELECT FROM run AS earlier
        WHERE earlier.workspace_id = work.workspace_id AND earlier.session_id = work.session_id
          AND earlier.state IN ('queued', 'running')
          AND (earlier.created_at, earlier.id) < (work.created_at, work.id))""",
    stop="work.cancel_requested",
    on_claim="attempts_left = work.attempts_left - 1, started_at = coalesce(work.started_at, now())",
    on_finish="finished_at = now(), delegation = NULL",
)


class RunSql(Statements, file="runs.sql", message_columns=MESSAGE_COLUMNS):
    find: str
    cancel: str
    messages: str
    document_ids: str
    add_answer: str
    touch_session: str
    end_all: str
    abandoned_checkpoints: str
    count_checkpoints: str


class WorkspaceRuns(Repository):
    """The runs of one workspace; a user finds and cancels only the own ones."""

    async def find(self, caller: Principal, run_id: UUID) -> Run | None:
        return await self.one(RunSql.find, Run, id=run_id, user_id=caller.user_id)

    async def cancel(self, caller: Principal, run_id: UUID) -> CancelOutcome | None:
        """Returns None if there was nothing to cancel: the run has ended, or is not the caller's."""
        return await self.one(RunSql.cancel, CancelOutcome, id=run_id, user_id=caller.user_id)

    async def messages(self, run_id: UUID) -> list[EarlierMessage]:
        """Returns the turn's question first, then what was said before it, newest first."""
        return await self.all(RunSql.messages, EarlierMessage, id=run_id, limit=NEWEST_MESSAGES)

    async def document_ids(self, run_id: UUID) -> list[UUID] | None:
        """Returns the documents that the answer may draw on, those of session and message; None is all."""
        document_ids: list[UUID] | None = await self.value(RunSql.document_ids, id=run_id)
        return document_ids

    async def add_answer(self, run: ClaimedRun, answer: TurnAnswer) -> None:
        """Stores the answer, and its title if the session has none."""
        values = {
            **asdict(answer),
            "citations": Jsonb([citation.model_dump(mode="json") for citation in answer.citations]),
            "session_id": run.session_id,
            "run_id": run.id,
        }
        await self.run(RunSql.add_answer, **values)
        await self.run(RunSql.touch_session, **values)

    async def end_all(self) -> list[UUID]:
        """Ends every run, takes every lease away and notifies the processes; returns the ids of all runs."""
        return await self.values(RunSql.end_all)
