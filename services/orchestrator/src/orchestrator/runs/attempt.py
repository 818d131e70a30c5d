"""One attempt at a run: works while it holds the lease, and ends the run in exactly one way."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from langgraph.errors import GraphDrained
from prometheus_client import CollectorRegistry, Histogram

from contracts.backoff import backoff
from contracts.orchestrator import RunStatus
from contracts.run_events import CitationChecked, MessageCompleted, RunCancelled, RunCompleted, RunEventData, RunFailed
from orchestrator.checkpoints import Checkpoints
from orchestrator.errors import AttemptsExhausted, AttemptsFailed, DeadlinePassed, GraphError
from orchestrator.runs.events import RunEvents
from orchestrator.runs.records import ClaimedRun, CommittedVersion, RunProgress, StoredEvent, TurnAnswer, TurnInput
from orchestrator.runs.repository import CANCELLED, WorkspaceRuns
from orchestrator.runs.store import RunStore
from service_kit.notifications import Notifications
from service_kit.postgres import Connection
from service_kit.problems import WorkspaceGone
from service_kit.tracing import span
from service_kit.work import LeaseLost, StopAsked
from service_kit.worker import Write, uninterrupted, while_held

log = logging.getLogger(__name__)
FIRST_DELAY_SECONDS, LONGEST_DELAY_SECONDS = 1.0, 30.0
FIRST_WORDS_SECONDS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120)


def first_words_histogram(registry: CollectorRegistry) -> Histogram:
    """Returns the histogram of the time from a message to the first words of its answer."""
    return Histogram(
        "attractor_run_first_words_seconds",
        "Time from a message to the first words of its answer, including waiting and searching; first attempts only",
        buckets=FIRST_WORDS_SECONDS,
        registry=registry,
    )


class Turns(Protocol):
    """Answers turns, and emits `run_started`."""

    async def answer(
        self, run: ClaimedRun, turn: TurnInput, events: RunEvents, progress: RunProgress
    ) -> TurnAnswer: ...

    async def saved(self, run: ClaimedRun, turn: TurnInput) -> TurnAnswer | None: ...


@dataclass
class Attempt:
    """`execute` returns when the attempt has ended; cancelling it returns the run to the queue at once.

    `result` is then completed, failed, cancelled, retried, released or superseded, or "broke off" after an error.
    """

    run: ClaimedRun
    store: RunStore
    turns: Turns
    checkpoints: Checkpoints
    events: RunEvents
    notifications: Notifications
    first_words: Histogram
    progress: RunProgress = field(default_factory=RunProgress)
    result: str = "broke off"
    kept: int = 0

    async def execute(self) -> None:
        """Raises only if PostgreSQL is unavailable: the lease runs out, the run is claimed again."""
        carrier = {"traceparent": self.run.traceparent} if self.run.traceparent else None
        with span("run", carrier) as current:
            current.set_attribute("attractor.run_id", str(self.run.id))
            try:
                await self._execute()
            except LeaseLost:
                self.result = "superseded"
                await self._leave_nothing()

    async def _execute(self) -> None:
        if self.run.cancel_requested:
            self.progress.partial = self._saved
            await self._cancel()
        elif self.run.attempts_left < 0:
            self.progress.partial = self._saved
            await self._fail(AttemptsExhausted())
        else:
            async with self.notifications.subscribe(CANCELLED, str(self.run.id)) as cancelled:
                await self._work(cancelled.event)

    async def _work(self, cancelled: asyncio.Event) -> None:
        try:
            answer = await while_held(
                self.store.queue, self.run, self._answer(), self.progress.columns, cancelled, self._news
            )
        except asyncio.CancelledError:
            await uninterrupted(self._hand_over())
            raise
        except (LeaseLost, WorkspaceGone):
            raise
        except GraphDrained:
            ending = self._hand_over()
        except StopAsked:
            ending = self._cancel()
        except GraphError as failure:
            log.exception("run failed", extra={"run_id": str(self.run.id), "error_type": failure.type})
            ending = self._fail(failure)
        except Exception as failure:  # an error that no node handles fails the attempt, and is logged here
            extra = {"run_id": str(self.run.id), "attempt": self.run.attempts, "attempts_left": self.run.attempts_left}
            log.exception("run attempt failed", extra=extra)
            ending = self._retry(failure)
        else:
            ending = self._complete(answer)
        await uninterrupted(ending)

    async def _answer(self) -> TurnAnswer:
        """Returns the answer. Raises DeadlinePassed, and what Turns raise."""
        try:
            async with asyncio.timeout(self.run.deadline_seconds) as deadline:
                turn = await self.store.load_turn(self.run)
                self._time_first_words(turn)
                return await self.turns.answer(self.run, turn, self.events, self.progress)
        except TimeoutError:
            if deadline.expired():
                raise DeadlinePassed from None
            raise

    def _time_first_words(self, turn: TurnInput) -> None:
        """Measures the time to the first words, in first attempts only: the wait for later ones began earlier."""
        if self.run.attempts == 1:

            def observe() -> None:
                self.first_words.observe(max(0.0, (datetime.now(UTC) - turn.asked_at).total_seconds()))

            self.events.on_first_words = observe

    async def _leave_nothing(self) -> None:
        """Deletes what this attempt wrote for a run that was deleted meanwhile."""
        if await self.store.is_gone(self.run):
            await self.checkpoints.delete([str(self.run.id)])
            await self.events.delete()

    async def _complete(self, answer: TurnAnswer) -> None:
        completed = list[RunCompleted]()

        def events_of(final: TurnAnswer, committed: CommittedVersion | None) -> Sequence[StoredEvent]:
            completed.append(self._completed(final, committed))
            return self._facts(completed[-1])

        try:
            await self.store.complete(self.run, self.progress, answer, events_of)
        except StopAsked:
            await self._cancel()
        else:
            await self._publish(completed[-1])

    def _completed(self, answer: TurnAnswer, committed: CommittedVersion | None) -> RunCompleted:
        return RunCompleted(
            run_id=self.run.id,
            message_id=answer.message_id,
            mode=answer.mode,
            content=answer.content,
            citations=list(answer.citations),
            removed_citations=answer.removed_citations,
            sentences=list(answer.sentences),
            issues=self.progress.issues,
            steps_executed=self.progress.steps_executed,
            timings=self.progress.timings,
            **_version_of(committed),
        )

    async def _cancel(self) -> None:
        await self._end(RunStatus.cancelled, RunCancelled(run_id=self.run.id))

    async def _retry(self, failure: Exception) -> None:
        """Queues a retry as long as attempts are left."""
        self.progress.issues.append(f"attempt {self.run.attempts} failed: {type(failure).__name__}")
        if self.run.attempts_left > 0:
            delay = backoff(self.run.attempts, FIRST_DELAY_SECONDS, LONGEST_DELAY_SECONDS)
            await self.store.release(self.run, self.progress, self.events.facts, refund=False, delay_seconds=delay)
            self.result = "retried"
        else:
            await self._fail(AttemptsFailed())

    async def _hand_over(self) -> None:
        """Releases the run without counting the attempt, because this process stops."""
        await self.store.release(self.run, self.progress, self.events.facts, refund=True)
        self.result = "released"

    async def _fail(self, failure: GraphError) -> None:
        failed = RunFailed(run_id=self.run.id, error_type=failure.type, message=str(failure), stage=self.events.stage)
        await self._end(RunStatus.failed, failed, failure)

    async def _end(
        self, status: RunStatus, terminal: RunCancelled | RunFailed, failure: GraphError | None = None
    ) -> None:
        """Ends the run with its partial answer."""
        partial, ended = await self._partial(), [terminal]

        def events_of(committed: CommittedVersion | None) -> Sequence[StoredEvent]:
            ended.append(terminal.model_copy(update=_version_of(committed)))
            return self._facts(ended[-1])

        await self.store.end(self.run, self.progress, status, events_of, failure, partial)
        await self._publish(ended[-1])

    async def _saved(self) -> TurnAnswer | None:
        """Returns the partial answer of an earlier attempt."""
        if self.run.attempts == 1:
            return None
        return await self.turns.saved(self.run, await self.store.load_turn(self.run))

    async def _partial(self) -> TurnAnswer | None:
        """Returns the partial answer, after emitting it as final."""
        partial = await self.progress.partial()
        if partial is not None and all(event.name != MessageCompleted.name for event in self.events.facts):
            for citation in partial.citations:
                self.events.emit(CitationChecked(citation=citation))
            self.events.emit(
                MessageCompleted(
                    message_id=partial.message_id,
                    content=partial.content,
                    sentences=list(partial.sentences),
                    incomplete=True,
                )
            )
        return partial

    def _facts(self, terminal: RunEventData) -> list[StoredEvent]:
        return [*self.events.facts, self.events.following(terminal)]

    def _news(self) -> Write | None:
        """Returns the write that keeps the events since the last heartbeat, if there are any."""
        return self._keep_events if len(self.events.facts) > self.kept else None

    async def _keep_events(self, connection: Connection) -> None:
        """Keeps the events at the end of the attempt, including those of failed commits."""
        kept, self.kept = self.kept, len(self.events.facts)
        await WorkspaceRuns(connection, self.run.workspace_id).add_events(self.run.id, self.events.facts[kept:])

    async def _publish(self, terminal: RunEventData) -> None:
        """Writes the only terminal event; called after the commit, by the attempt that made it.

        The checkpoints of a failed run stay, so that it can be retried.
        """
        self.result = terminal.name.removeprefix("run_")
        self.events.emit(terminal)
        await self.events.flush()
        if not isinstance(terminal, RunFailed):
            await self.checkpoints.delete([str(self.run.id)])


def _version_of(committed: CommittedVersion | None) -> dict[str, Any]:
    """Returns the fields of a terminal event about the version that the run made."""
    if committed is None:
        return {}
    return {"artifact_index": committed.index, "artifact_outcome": committed.outcome.value}
