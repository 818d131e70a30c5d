"""One attempt at one run: works while it holds the lease, and ends the run in exactly one way."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, Protocol

import psycopg

from contracts.events import RunCancelled, RunCompleted, RunEventData, RunFailed, RunStarted
from contracts.orchestrator import AnswerMode
from orchestrator.errors import LeaseLost
from orchestrator.runs.events import RunEvents
from orchestrator.runs.records import Answer, ClaimedRun, Progress, SaidBefore
from orchestrator.runs.store import CANCELLED, RunStore
from service_kit.notifications import Notifications
from service_kit.problems import Unavailable
from service_kit.tracing import span

log = logging.getLogger(__name__)
FIRST_LOOK_SECONDS = 0.3
FAILURE_MESSAGE = "The answer could not be written because of an internal error, although it was tried several times"
EXHAUSTED_MESSAGE = "The run was given up: each process that worked on it ended before it could finish"


class Turns(Protocol):
    """What answers a turn."""

    @property
    def mode(self) -> AnswerMode: ...

    async def answer(
        self, run: ClaimedRun, said: list[SaidBefore], events: RunEvents, progress: Progress
    ) -> Answer: ...


class Checkpoints(Protocol):
    async def adelete_thread(self, thread_id: str) -> None: ...


@dataclass
class Attempt:
    """`execute` returns when the attempt is over; cancelling it gives the run back to the queue at once.

    `result` is then completed, failed, cancelled, retried, released or superseded.
    """

    run: ClaimedRun
    store: RunStore
    turns: Turns
    checkpoints: Checkpoints
    events: RunEvents
    notifications: Notifications
    progress: Progress = field(default_factory=Progress)
    result: str = "superseded"

    async def execute(self) -> None:
        """Raises only what means that Postgres is away; the lease then runs out and the run is claimed again."""
        carrier = {"traceparent": self.run.traceparent} if self.run.traceparent else None
        with span("run", carrier) as current:
            current.set_attribute("attractor.run_id", str(self.run.id))
            if self.run.cancel_requested:
                await self._end_cancelled()
                return
            if self.run.attempts_left < 0:
                await self._give_up("attempts-exhausted", EXHAUSTED_MESSAGE)
                return
            self.events.emit(RunStarted(run_id=self.run.id, attempt=self.run.attempts, mode=self.turns.mode))
            work, watch = asyncio.create_task(self._work()), asyncio.create_task(self._watch())
            try:
                await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
            except asyncio.CancelledError:
                await _stop(work, watch)
                await _uninterrupted(self.store.release(self.run, self.progress, refund=True))
                self.result = "released"
                raise
            stopped = watch.done()
            await _stop(work, watch)
            await _uninterrupted(self._end(work, watch if stopped else None))

    async def _work(self) -> Answer:
        return await self.turns.answer(self.run, await self.store.load_turn(self.run), self.events, self.progress)

    async def _watch(self) -> None:
        """Extends the lease; returns when the run is to be cancelled. Raises LeaseLost."""
        loop = asyncio.get_running_loop()
        held_until = loop.time() + self.store.lease_seconds
        async with self.notifications.subscribe(CANCELLED, str(self.run.id)) as cancelled:
            # A cancel between the claim and here went unheard: the first look comes soon, but after the first words.
            await cancelled.wait(min(FIRST_LOOK_SECONDS, self.store.lease_seconds / 3))
            while True:
                asked = loop.time()
                try:
                    if await self.store.extend(self.run, self.progress):
                        return
                    held_until = asked + self.store.lease_seconds
                except (psycopg.OperationalError, Unavailable) as error:
                    log.warning("lease not extended", exc_info=error, extra={"run_id": str(self.run.id)})
                    if loop.time() > held_until:
                        raise LeaseLost from error
                await cancelled.wait(self.store.lease_seconds / 3)

    async def _end(self, work: asyncio.Task[Answer], watch: asyncio.Task[None] | None) -> None:
        if watch is not None and not work.cancelled() and work.exception() is None:
            watch = None  # both came at once: the commit decides whether it was cancelled before
        if watch is not None:
            error = watch.exception()
            if error is None:
                await self._end_cancelled()
            elif not isinstance(error, LeaseLost):
                raise error
            return
        failure = asyncio.CancelledError() if work.cancelled() else work.exception()
        if failure is None:
            await self._end_completed(work.result())
        elif not isinstance(failure, LeaseLost):
            await self._end_failed(failure)

    async def _end_completed(self, answer: Answer) -> None:
        if not await self.store.complete(self.run, self.progress, answer):
            await self._end_cancelled()
            return
        await self._tell(
            RunCompleted(
                run_id=self.run.id,
                message_id=answer.message_id,
                mode=answer.mode,
                content=answer.content,
                citations=list(answer.citations),
                removed_citations=answer.removed_citations,
            )
        )

    async def _end_cancelled(self) -> None:
        """Does nothing where the lease is lost."""
        if await self.store.cancelled(self.run, self.progress):
            await self._tell(RunCancelled(run_id=self.run.id))

    async def _end_failed(self, failure: BaseException) -> None:
        """Tries again later as long as attempts are left."""
        extra = {"run_id": str(self.run.id), "attempt": self.run.attempts, "attempts_left": self.run.attempts_left}
        log.error("run attempt failed", exc_info=failure, extra=extra)
        self.progress.issues.append(f"attempt {self.run.attempts} failed: {type(failure).__name__}")
        if self.run.attempts_left > 0:
            delay = min(2.0 ** (self.run.attempts - 1), 30.0)
            await self.store.release(self.run, self.progress, refund=False, delay_seconds=delay)
            self.result = "retried"
        else:
            await self._give_up("internal-error", FAILURE_MESSAGE)

    async def _give_up(self, error_type: str, message: str) -> None:
        """Does nothing where the lease is lost."""
        if await self.store.fail(self.run, self.progress, error_type, message):
            stage = self.events.stage
            await self._tell(RunFailed(run_id=self.run.id, error_type=error_type, message=message, stage=stage))

    async def _tell(self, terminal: RunEventData) -> None:
        """After the commit, and only by the attempt that made it: so there is one terminal event, and it is true."""
        self.result = terminal.name.removeprefix("run_")
        self.events.emit(terminal)
        await self.events.flush()
        await self.checkpoints.adelete_thread(str(self.run.id))


async def _stop(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _uninterrupted(work: Coroutine[Any, Any, None]) -> None:
    """Lets the work end also when the waiting task is cancelled meanwhile."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise
