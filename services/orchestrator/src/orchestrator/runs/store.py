"""The operations of callers and workers on runs, each in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from contracts.artifacts import ArtifactOutcome
from contracts.base import Page
from contracts.events import TurnCompleted, TurnDiscarded
from contracts.orchestrator import MessageStatus, Run, RunStatus
from orchestrator.artifacts.committing import commit_run_version
from orchestrator.artifacts.differences import added
from orchestrator.artifacts.repository import ArtifactRepository
from orchestrator.configuration.repository import WorkspaceConfiguration
from orchestrator.errors import GraphError, RunNotFailed, RunNotFound
from orchestrator.runs.records import (
    AskedMessage,
    CancelOutcome,
    ClaimedRun,
    CommittedVersion,
    FoundArtifact,
    RunProgress,
    StoredEvent,
    TurnAnswer,
    TurnInput,
)
from orchestrator.runs.repository import WorkspaceRuns
from service_kit.auth import Principal
from service_kit.outbox import Outbox
from service_kit.postgres import Connection, Database
from service_kit.work import LeaseLost, StopAsked, WorkQueue

MOST_EDITS, LONGEST_EDIT = 10, 300  # edits made by hand that are learned from, and characters of each
OUTCOMES = {
    ArtifactOutcome.current: "",
    ArtifactOutcome.merged: "The artifact was changed by hand meanwhile; both changes are in it now.",
    ArtifactOutcome.kept_aside: "The artifact was changed by hand at the same place meanwhile, so mine is kept as a "
    "version of its own and is not the current one. You can restore it.",
    ArtifactOutcome.gone: "The artifact was deleted meanwhile, so nothing was changed.",
}


class RunStore:
    """Each transition of a claimed run is guarded by its lease, and raises LeaseLost without it."""

    def __init__(self, database: Database, outbox: Outbox, queue: WorkQueue[ClaimedRun]) -> None:
        self.database, self.outbox, self.queue = database, outbox, queue

    async def get(self, caller: Principal, run_id: UUID, *, debug: bool = False) -> Run:
        """Raises RunNotFound."""
        async with self.database.workspace(caller.workspace_id) as connection:
            run = await WorkspaceRuns(connection, caller.workspace_id).find(caller, run_id, debug=debug)
        if run is None:
            raise RunNotFound
        return run

    async def page(
        self, caller: Principal, limit: int, cursor: str | None, session_id: UUID | None, statuses: Sequence[RunStatus]
    ) -> Page[Run]:
        """Returns the caller's runs, newest first, without their answers."""
        async with self.database.workspace(caller.workspace_id) as connection:
            runs = WorkspaceRuns(connection, caller.workspace_id)
            return await runs.page(caller, limit, cursor, session_id, statuses)

    async def events(self, caller: Principal, run_id: UUID, after: tuple[int, int]) -> list[StoredEvent]:
        """Returns the run's events after an attempt and number, without pieces of text."""
        async with self.database.workspace(caller.workspace_id) as connection:
            return await WorkspaceRuns(connection, caller.workspace_id).events(run_id, after)

    async def cancel(self, caller: Principal, run_id: UUID) -> CancelOutcome | None:
        """Returns None if there was nothing to cancel: the run has ended, or is not the caller's."""
        async with self.database.workspace(caller.workspace_id) as connection:
            return await WorkspaceRuns(connection, caller.workspace_id).cancel(caller, run_id)

    async def retry(self, caller: Principal, run_id: UUID, max_attempts: int) -> None:
        """Queues a failed run again. Raises RunNotFound, RunNotFailed, TooManyQueued."""
        async with self.database.workspace(caller.workspace_id) as connection:
            runs = WorkspaceRuns(connection, caller.workspace_id)
            await runs.admit(caller)
            if not await runs.retry(caller, run_id, max_attempts):
                raise RunNotFound if await runs.find(caller, run_id) is None else RunNotFailed

    async def is_gone(self, run: ClaimedRun) -> bool:
        """Returns whether the run has been deleted."""
        async with self.database.workspace(run.workspace_id) as connection:
            return not await WorkspaceRuns(connection, run.workspace_id).exists(run.id)

    async def load_turn(self, run: ClaimedRun) -> TurnInput:
        """Returns the run's turn. Raises LeaseLost if the run no longer exists."""
        async with self.database.workspace(run.workspace_id) as connection:
            runs = WorkspaceRuns(connection, run.workspace_id)
            messages = await runs.messages(run.id)
            if not messages:
                raise LeaseLost
            artifact = await _artifact(ArtifactRepository(connection, run.workspace_id), run)
            document_ids = await runs.document_ids(run.id, run.scope)
            settings = await WorkspaceConfiguration(connection, run.workspace_id).of(run.created_by)
            return TurnInput(messages[0].id, messages[1:], document_ids, artifact, settings)

    async def complete(
        self,
        run: ClaimedRun,
        progress: RunProgress,
        answer: TurnAnswer,
        events_of: Callable[[TurnAnswer, CommittedVersion | None], Sequence[StoredEvent]],
    ) -> None:
        """Stores answer, status, title, the artifact's version, the events of `events_of`, and `turn.completed`.

        All in one transaction; raises StopAsked if a cancellation came first. For an answer of the error handler or
        from other workspaces it is `turn.discarded`; no event is about a temporary session.
        """
        async with self.database.workspace(run.workspace_id) as connection:
            runs = WorkspaceRuns(connection, run.workspace_id)
            temporary = await runs.hold_session(run)
            if await self.queue.extend(connection, run):
                raise StopAsked
            answer, committed = await _with_version(connection, run, answer)
            events = events_of(answer, committed)
            await self.queue.finish(connection, run, RunStatus.completed, mode=answer.mode, **progress.columns())
            await runs.add_answer(
                run, answer, MessageStatus.incomplete if answer.incomplete else MessageStatus.completed
            )
            await runs.add_events(run.id, events)
            if temporary:
                return
            kept = not (answer.fallback or answer.incomplete or answer.read_elsewhere)
            turn = _turn_completed(run, await runs.asked(run.id), answer) if kept else _turn_discarded(run)
            await self.outbox.write(connection, run.workspace_id, turn, str(run.id))

    async def end(
        self,
        run: ClaimedRun,
        progress: RunProgress,
        status: RunStatus,
        events_of: Callable[[CommittedVersion | None], Sequence[StoredEvent]],
        failure: GraphError | None = None,
        partial: TurnAnswer | None = None,
    ) -> None:
        """Ends the run without an answer, or with a partial one: `cancelled`, or `incomplete` after a failure.

        The artifact's version is stored if the partial answer mentions it. Writes `turn.discarded`, unless the session
        is temporary.
        """
        error = {"error_type": failure.type, "error_message": str(failure)} if failure else {}
        columns = {**progress.columns(), **error}
        async with self.database.workspace(run.workspace_id) as connection:
            runs = WorkspaceRuns(connection, run.workspace_id)
            temporary = await runs.hold_session(run)
            await self.queue.finish(connection, run, status, **columns)
            committed = None
            if partial is None:
                await runs.end_answer(run, status)
            else:
                partial, committed = await _with_version(connection, run, partial)
                cancelled = status is RunStatus.cancelled
                await runs.add_answer(run, partial, MessageStatus.cancelled if cancelled else MessageStatus.incomplete)
            await runs.add_events(run.id, events_of(committed))
            if not temporary:
                await self.outbox.write(connection, run.workspace_id, _turn_discarded(run), str(run.id))

    async def release(
        self,
        run: ClaimedRun,
        progress: RunProgress,
        events: Sequence[StoredEvent],
        *,
        refund: bool,
        delay_seconds: float = 0.0,
    ) -> None:
        """Puts the run back into the queue. `refund`: the attempt does not count."""
        columns: dict[str, Any] = {**progress.columns(), "attempts_left": run.attempts_left + int(refund)}
        async with self.database.workspace(run.workspace_id) as connection:
            await self.queue.release(connection, run, delay_seconds=delay_seconds, **columns)
            await WorkspaceRuns(connection, run.workspace_id).add_events(run.id, events)


async def _artifact(artifacts: ArtifactRepository, run: ClaimedRun) -> FoundArtifact | None:
    """Returns the session's artifact, with the text that a highlight refers to, and the user's latest edits."""
    view = await artifacts.current(run.session_id)
    if view is None:
        return None
    index = run.options.get("artifact_action_params", {}).get("version")
    seen = None
    if index is not None and index != view.index and 1 <= index <= view.last_index:
        seen = (await artifacts.version(view.id, index)).text
    by_hand = list[str]()
    if view.run_id is None and view.parent_index is not None and view.created_by == run.created_by:
        before = (await artifacts.version(view.id, view.parent_index)).text
        by_hand = await asyncio.to_thread(added, before, view.text, most=MOST_EDITS, longest=LONGEST_EDIT)
    return FoundArtifact(view, seen, by_hand)


async def _with_version(
    connection: Connection, run: ClaimedRun, answer: TurnAnswer
) -> tuple[TurnAnswer, CommittedVersion | None]:
    """Stores the version that the answer mentions, if any; returns the answer with the outcome."""
    if answer.proposal is None:
        return answer, None
    committed = CommittedVersion(*await commit_run_version(connection, run.id, answer.message_id, answer.proposal))
    return _with_outcome(answer, committed), committed


def _with_outcome(answer: TurnAnswer, committed: CommittedVersion) -> TurnAnswer:
    """Returns the answer, with a note if the version has not simply become current."""
    cut_short = answer.proposal is not None and not answer.proposal.complete
    note = "" if cut_short else OUTCOMES[committed.outcome]
    return replace(answer, content=f"{answer.content}\n\n{note}") if note else answer


def _turn_completed(run: ClaimedRun, asked: AskedMessage, answer: TurnAnswer) -> TurnCompleted:
    return TurnCompleted(
        session_id=run.session_id,
        run_id=run.id,
        user_id=run.created_by,
        question_id=asked.id,
        answer_id=answer.message_id,
        asked_at=asked.created_at,
        time_zone=run.options.get("timezone", "UTC"),
        recalled_ids=list(answer.recalled_ids),
        reflections=list(answer.reflections),
        world=answer.staged,
        question=answer.question[:10_000],
        answer=answer.content[:10_000],
        document_ids=sorted({citation.document_id for citation in answer.citations}),
    )


def _turn_discarded(run: ClaimedRun) -> TurnDiscarded:
    return TurnDiscarded(session_id=run.session_id, run_id=run.id, user_id=run.created_by)
