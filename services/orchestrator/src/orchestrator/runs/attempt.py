"""One attempt at one run: works while it holds the lease, and ends the run in exactly one way."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Protocol

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from contracts.backoff import backoff
from contracts.events import RunCancelled, RunCompleted, RunEventData, RunFailed, RunStarted
from contracts.orchestrator import AnswerMode, RunStatus
from orchestrator.runs.events import RunEvents
from orchestrator.runs.records import ClaimedRun, RunProgress, TurnAnswer, TurnInput
from orchestrator.runs.repository import CANCELLED
from orchestrator.runs.store import RunStore
from service_kit.notifications import Notifications
from service_kit.tracing import span
from service_kit.work import LeaseLost, StopAsked
from service_kit.worker import uninterrupted, while_held

log = logging.getLogger(__name__)
FIRST_DELAY_SECONDS, LONGEST_DELAY_SECONDS = 1.0, 30.0
FAILURE_MESSAGE = "The answer could not be written because of an internal error, although it was tried several times"
EXHAUSTED_MESSAGE = "The run was given up: each process that worked on it ended before it could finish"


class Turns(Protocol):
    """Answers turns."""

    @property
    def mode(self) -> AnswerMode: ...

    async def answer(
        self, run: ClaimedRun, turn: TurnInput, events: RunEvents, progress: RunProgress
    ) -> TurnAnswer: ...


@dataclass
class Attempt:
    """`execute` returns when the attempt is over; cancelling it gives the run back to the queue at once.

    `result` is then completed, failed, cancelled, retried, released or superseded, or "broke off" after an error.
    """

    run: ClaimedRun
    store: RunStore
    turns: Turns
    checkpoints: AsyncPostgresSaver
    events: RunEvents
    notifications: Notifications
    progress: RunProgress = field(default_factory=RunProgress)
    result: str = "broke off"

    async def execute(self) -> None:
        """Raises only if PostgreSQL is away; the lease then runs out and the run is claimed again."""
        carrier = {"traceparent": self.run.traceparent} if self.run.traceparent else None
        with span("run", carrier) as current:
            current.set_attribute("attractor.run_id", str(self.run.id))
            try:
                await self._execute()
            except LeaseLost:
                self.result = "superseded"

    async def _execute(self) -> None:
        if self.run.cancel_requested:
            await self._cancel()
        elif self.run.attempts_left < 0:
            await self._fail("attempts-exhausted", EXHAUSTED_MESSAGE)
        else:
            self.events.emit(RunStarted(run_id=self.run.id, attempt=self.run.attempts, mode=self.turns.mode))
            async with self.notifications.subscribe(CANCELLED, str(self.run.id)) as cancelled:
                await self._work(cancelled.event)

    async def _work(self, cancelled: asyncio.Event) -> None:
        try:
            answer = await while_held(self.store.queue, self.run, self._answer(), self.progress.columns, cancelled)
        except asyncio.CancelledError:
            await uninterrupted(self.store.release(self.run, self.progress, refund=True))
            self.result = "released"
            raise
        except LeaseLost:
            raise
        except StopAsked:
            ending = self._cancel()
        except Exception as failure:  # whatever a node raises fails the attempt, and is logged here
            extra = {"run_id": str(self.run.id), "attempt": self.run.attempts, "attempts_left": self.run.attempts_left}
            log.exception("run attempt failed", extra=extra)
            ending = self._retry(failure)
        else:
            ending = self._complete(answer)
        await uninterrupted(ending)

    async def _answer(self) -> TurnAnswer:
        return await self.turns.answer(self.run, await self.store.load_turn(self.run), self.events, self.progress)

    async def _complete(self, answer: TurnAnswer) -> None:
        try:
            await self.store.complete(self.run, self.progress, answer)
        except StopAsked:
            await self._cancel()
            return
        await self._publish(
            RunCompleted(
                run_id=self.run.id,
                message_id=answer.message_id,
                mode=answer.mode,
                content=answer.content,
                citations=list(answer.citations),
                removed_citations=answer.removed_citations,
            )
        )

    async def _cancel(self) -> None:
        await self.store.end(self.run, self.progress, RunStatus.cancelled)
        await self._publish(RunCancelled(run_id=self.run.id))

    async def _retry(self, failure: Exception) -> None:
        """Tries again later as long as attempts are left."""
        self.progress.issues.append(f"attempt {self.run.attempts} failed: {type(failure).__name__}")
        if self.run.attempts_left > 0:
            delay = backoff(self.run.attempts, FIRST_DELAY_SECONDS, LONGEST_DELAY_SECONDS)
            await self.store.release(self.run, self.progress, refund=False, delay_seconds=delay)
            self.result = "retried"
        else:
            await self._fail("internal-error", FAILURE_MESSAGE)

    async def _fail(self, error_type: str, message: str) -> None:
        await self.store.end(self.run, self.progress, RunStatus.failed, error_type, message)
        stage = self.events.stage
        await self._publish(RunFailed(run_id=self.run.id, error_type=error_type, message=message, stage=stage))

    async def _publish(self, terminal: RunEventData) -> None:
        """Writes the one terminal event: called after the commit, by the attempt that made it."""
        self.result = terminal.name.removeprefix("run_")
        self.events.emit(terminal)
        await self.events.flush()
        await self.checkpoints.adelete_thread(str(self.run.id))
