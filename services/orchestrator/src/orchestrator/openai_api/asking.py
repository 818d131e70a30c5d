"""Asks what a client sent: a run on a session of its own that is never listed, or on the session that it names."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID, uuid4

from contracts.events import RUN_EVENTS, RunCancelled
from contracts.orchestrator import MessageCreate, Run
from orchestrator.runs.records import RunOptions
from orchestrator.runs.store import RunStore
from orchestrator.runs.streams import BEGINNING, RunStreams
from orchestrator.sessions.messages import CallerMessages
from orchestrator.sessions.repository import CallerSessions
from service_kit.auth import Principal
from service_kit.postgres import Connection, Database
from service_kit.repository import Repository
from service_kit.statements import Statements

log = logging.getLogger(__name__)
TITLE = "Asked through the OpenAI API"
PATIENCE_SECONDS = 60.0
TERMINAL = frozenset(event.name for event in RUN_EVENTS if event.terminal)


class DoorRunSql(Statements, file="asking.sql"):
    add_history: str
    forget: str


@dataclass(frozen=True)
class SentMessage:
    """A message that was sent before the question."""

    role: Literal["user", "assistant"]
    content: str


@dataclass(frozen=True)
class DoorQuestion:
    """What is asked, after `history`; in the session `session_id`, whose own history counts then, if one is named."""

    content: str
    history: Sequence[SentMessage]
    options: RunOptions
    deadline_seconds: int
    session_id: UUID | None = None


class DoorSessions(Repository):
    """The sessions that are made for one answer."""

    def __init__(self, connection: Connection, caller: Principal) -> None:
        super().__init__(connection, caller.workspace_id)
        self.bound = {**self.bound, "user_id": caller.user_id}

    async def add_history(self, session_id: UUID, history: Sequence[SentMessage]) -> UUID | None:
        """Adds the messages one below the other; returns the last one's id."""
        if not history:
            return None
        ids = [uuid4() for _ in history]
        await self.run(
            DoorRunSql.add_history,
            session_id=session_id,
            ids=ids,
            parent_ids=[None, *ids[:-1]],
            roles=[turn.role for turn in history],
            contents=[turn.content for turn in history],
        )
        return ids[-1]

    async def forget(self, session_id: UUID) -> None:
        await self.run(DoorRunSql.forget, session_id=session_id)


@dataclass
class DoorRuns:
    """Queues the runs of the doors, and clears up behind them."""

    database: Database
    runs: RunStore
    streams: RunStreams
    max_attempts: int
    ending: set[asyncio.Task[None]] = field(default_factory=set)

    async def ask(self, caller: Principal, question: DoorQuestion) -> Run:
        """Raises SessionNotFound, TooManyQueued."""
        async with self.database.workspace(caller.workspace_id) as connection:
            session_id, message = (
                question.session_id,
                MessageCreate(content=question.content, deadline_seconds=question.deadline_seconds),
            )
            if session_id is None:
                session_id = (await CallerSessions(connection, caller).create(TITLE, None, temporary=True)).id
                last = await DoorSessions(connection, caller).add_history(session_id, question.history)
                message = message.model_copy(update={"parent_id": last})
            messages = CallerMessages(connection, caller)
            queued = await messages.ask(session_id, message, None, self.max_attempts, question.options)
        return queued.as_run(session_id)

    def leave(self, caller: Principal, run: Run, *, stopping: bool, forgetting: bool, after: str = BEGINNING) -> None:
        """Has the run stopped, if its answer is not wanted any more, and its session forgotten when it has ended."""
        self._soon(self._leave(caller, run, stopping, forgetting, after))

    async def aclose(self) -> None:
        """Waits for what `leave` began."""
        await asyncio.gather(*self.ending)

    def _soon(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self.ending.add(task)
        task.add_done_callback(self.ending.discard)

    async def _leave(self, caller: Principal, run: Run, stopping: bool, forgetting: bool, after: str) -> None:
        try:
            if stopping:
                await self._stop(caller, run)
            if forgetting:
                if not stopping:
                    async with asyncio.timeout(PATIENCE_SECONDS):
                        await self._ended(caller, run, after)
                await self._forget(caller, run)
        except Exception:  # the boundary of what nobody waits for; housekeeping erases the session a day later
            log.exception("a door's session was not forgotten yet", extra={"run_id": str(run.id)})

    async def _stop(self, caller: Principal, run: Run) -> None:
        outcome = await self.runs.cancel(caller, run.id)
        if outcome is not None and outcome.ended:
            await self.streams.publish(run.id, outcome.attempts, RunCancelled(run_id=run.id))

    async def _ended(self, caller: Principal, run: Run, after: str) -> None:
        """Returns when the run has ended: whoever works on it would otherwise lose it at the last step."""
        async with aclosing(self.streams.entries(caller, run, after)) as entries:
            async for entry in entries:
                if entry is not None and entry[1] in TERMINAL:
                    return

    async def _forget(self, caller: Principal, run: Run) -> None:
        async with self.database.workspace(caller.workspace_id) as connection:
            await DoorSessions(connection, caller).forget(run.session_id)
        await self.streams.delete([run.id])
