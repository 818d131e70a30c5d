"""A run's events as server-sent events (HTML Living Standard, 9.2): ids allow resuming, comments keep them open."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any
from uuid import UUID

import psycopg
from redis.asyncio import Redis
from redis.exceptions import RedisError

from contracts.orchestrator import AnswerMode, Run, RunStatus
from contracts.run_events import (
    RUN_EVENTS,
    MessageCompleted,
    MessageDelta,
    MessageRestarted,
    RunCancelled,
    RunCompleted,
    RunEventData,
    RunFailed,
    run_stream,
)
from orchestrator.errors import BadEventId, RunNotFound
from orchestrator.runs.events import RunEvents
from orchestrator.runs.store import RunStore
from service_kit.auth import Principal
from service_kit.problems import Unavailable
from service_kit.server_sent import HEARTBEAT, formatted
from service_kit.stream_entries import Fields, as_text, as_texts, entries_read, parse_id

log = logging.getLogger(__name__)
BEGINNING = "0-0"
AWAY_SECONDS = 0.5  # before an unavailable database is queried again
_ID = re.compile(r"\d{1,10}-\d{1,19}", re.ASCII)
Entry = tuple[str, str, str]  # id, name and data
TERMINAL_EVENTS = frozenset(event.name for event in RUN_EVENTS if event.terminal)


class RunStreams:
    """Follows runs, each on its own connection, which blocks until there is something to read."""

    def __init__(
        self, redis: Redis, runs: RunStore, *, ttl_seconds: int, heartbeat_seconds: float, max_streams: int
    ) -> None:
        """`redis` must allow `max_streams` connections and reads that last longer than a heartbeat."""
        self.redis, self.runs, self.ttl_seconds = redis, runs, ttl_seconds
        self.heartbeat_seconds, self.max_streams = heartbeat_seconds, max_streams
        self.open = 0

    def admit(self) -> None:
        """Raises Unavailable if this process has reached its limit of open streams."""
        if self.open >= self.max_streams:
            raise Unavailable("Too many event streams are open; poll the run instead", headers={"Retry-After": "5"})

    async def nothing_left(self, caller: Principal, run: Run, after: str) -> bool:
        """Returns whether the run has ended and a client that has seen `after` has seen its terminal event."""
        if not run.status.ended:
            return False
        if parse_id(after) >= parse_id(_rebuilt_id(run)):
            return True
        if stored := await self.runs.events(caller, run.id, parse_id(BEGINNING)):
            return any(event.name in TERMINAL_EVENTS and parse_id(after) >= parse_id(event.id) for event in stored)
        try:
            newest: Any = await self.redis.xrevrange(run_stream(run.id), count=1)
        except RedisError as error:
            raise Unavailable("The run's events cannot be read; poll the run instead") from error
        return any(
            name in TERMINAL_EVENTS and parse_id(after) >= parse_id(entry) for entry, name, _ in map(_decoded, newest)
        )

    async def cancel(self, caller: Principal, run_id: UUID) -> None:
        """Ends a waiting run and asks the process of a running one to stop; a run that has ended stays as it is."""
        outcome = await self.runs.cancel(caller, run_id)
        if outcome is not None and outcome.ended:
            await self.publish_cancelled(run_id, outcome.attempts)

    async def publish_cancelled(self, run_id: UUID, attempts: int) -> None:
        """Writes the terminal event of a run that no process executes, with the id that it has when rebuilt."""
        events = RunEvents(self.redis, run_id, attempts + 1, self.ttl_seconds, number=-1)
        events.emit(RunCancelled(run_id=run_id))
        await events.flush()

    async def reopen(self, run_id: UUID) -> None:
        """Removes the terminal event of a failed run from its stream: it would end followers. Raises Unavailable."""
        stream = run_stream(run_id)
        try:
            newest: Any = await self.redis.xrevrange(stream, count=1)
            for entry, name, _ in map(_decoded, newest):
                if name == RunFailed.name:
                    await self.redis.xdel(stream, entry)
        except RedisError as error:
            raise Unavailable("The run's events cannot be written; try again") from error

    async def delete(self, run_ids: Sequence[UUID]) -> None:
        """Deletes the streams of deleted runs; without Redis they expire by themselves."""
        try:
            if run_ids:
                await self.redis.delete(*map(run_stream, run_ids))
        except RedisError as error:
            log.warning("run streams not deleted", exc_info=error, extra={"runs": len(run_ids)})

    async def follow(self, caller: Principal, run: Run, after: str = BEGINNING) -> AsyncIterator[bytes]:
        """Yields the events after the given id, up to and including the terminal one, which is sent once.

        Events that were written together are one piece. While PostgreSQL is unavailable, it yields what the stream has,
        or waits.
        """
        async with aclosing(self._batches(caller, run, after)) as batches:
            async for batch in batches:
                yield b"".join(formatted(*entry) for entry in batch) or HEARTBEAT

    async def entries(self, caller: Principal, run: Run, after: str = BEGINNING) -> AsyncGenerator[Entry | None]:
        """Yields the same events as id, name and data; None after a heartbeat without any."""
        async with aclosing(self._batches(caller, run, after)) as batches:
            async for batch in batches:
                for entry in batch:
                    yield entry
                if not batch:
                    yield None

    async def _batches(self, caller: Principal, run: Run, after: str) -> AsyncGenerator[list[Entry]]:
        """Yields the events as they are read, up to the terminal one; an empty list after a heartbeat without any."""
        self.open += 1
        try:
            async for batch in self._read_batches(caller, run, after):
                yield batch
        finally:
            self.open -= 1

    async def _read_batches(self, caller: Principal, run: Run, after: str) -> AsyncIterator[list[Entry]]:
        while True:
            entries = await self._read(run.id, after, wait=not run.status.ended)
            if not entries and not run.status.ended:
                yield []
            if not entries or not _follows(after, entries[0][0]):
                try:
                    run, entries = await self._filled(caller, run, after, entries)
                except (psycopg.OperationalError, Unavailable) as error:
                    log.warning("could not read the run", exc_info=error, extra={"run_id": str(run.id)})
                    entries = []
                    await asyncio.sleep(AWAY_SECONDS)
            ends = next((at for at, (_, name, _) in enumerate(entries, 1) if name in TERMINAL_EVENTS), None)
            if entries:
                yield entries[:ends]
                after = entries[-1][0]
            if ends is not None:
                return

    async def _filled(self, caller: Principal, run: Run, after: str, entries: list[Entry]) -> tuple[Run, list[Entry]]:
        """Returns the current run and the following events, from PostgreSQL if the stream lacks them."""
        if not entries and not run.status.ended:
            run = await self._reread(caller, run)
        stored = await self._stored(caller, run, after)
        # If the stream is complete, it is preferred to PostgreSQL, which does not store deltas.
        entries = entries or (await self._read(run.id, after, wait=False) if stored else [])
        first = entries[0][0] if entries else None
        if first is None or not _follows(after, first):
            missed = [one for one in stored if first is None or parse_id(one[0]) < parse_id(first)]
            entries = [*_with_texts(after, missed), *entries]
        return run, entries

    async def _stored(self, caller: Principal, run: Run, after: str) -> list[Entry]:
        """Returns PostgreSQL's events after the id; for an ended run up to its terminal event."""
        events = await self.runs.events(caller, run.id, parse_id(after))
        entries = [(event.id, event.name, event.data) for event in events]
        if run.status.ended and not any(name in TERMINAL_EVENTS for _, name, _ in entries):
            terminal = _rebuilt(run)
            entries.append((_rebuilt_id(run), terminal.name, terminal.model_dump_json()))
        return entries

    async def _read(self, run_id: UUID, after: str, *, wait: bool) -> list[Entry]:
        """Returns the stream's events; if there are none, with `wait`, those that arrive within a heartbeat.

        Without Redis, there are none.
        """
        block = int(1000 * self.heartbeat_seconds) if wait else None
        try:
            answer: Any = await self.redis.xread({run_stream(run_id): after}, count=500, block=block)
        except RedisError as error:
            log.warning("could not read the run's stream", exc_info=error, extra={"run_id": str(run_id)})
            await asyncio.sleep(self.heartbeat_seconds if wait else 0)
            return []
        return [_decoded((entry_id, fields)) for _, entry_id, fields in entries_read(answer)]

    async def _reread(self, caller: Principal, run: Run) -> Run:
        try:
            return await self.runs.get(caller, run.id)
        except RunNotFound:  # its session was deleted
            return run.model_copy(update={"status": RunStatus.cancelled})


def parse_event_id(text: str | None) -> str:
    """Returns the id in a Last-Event-ID header, or that of the beginning. Raises BadEventId."""
    if not text:
        return BEGINNING
    if not _ID.fullmatch(text):
        raise BadEventId
    return text


def _follows(after: str, event_id: str) -> bool:
    """Returns whether no event can be missing between the two."""
    (attempt, number), following = parse_id(after), parse_id(event_id)
    return following == ((attempt, number + 1) if attempt else (1, 1))


def _with_texts(after: str, entries: Sequence[Entry]) -> list[Entry]:
    """Inserts each final text before its `message_completed`, as one delta with the id of the event that it follows."""
    complete: list[Entry] = []
    shown = after != BEGINNING  # part of the text may have been shown
    for entry in entries:
        event_id, name, data = entry
        if name == MessageCompleted.name:
            text = MessageDelta(text=MessageCompleted.model_validate_json(data).content)
            if shown:
                complete.append((after, MessageRestarted.name, MessageRestarted().model_dump_json()))
            complete.append((after, text.name, text.model_dump_json()))
        complete.append(entry)
        after = event_id
    return complete


def _rebuilt_id(run: Run) -> str:
    return f"{run.attempts + 1}-0"


def _rebuilt(run: Run) -> RunEventData:
    if run.status is RunStatus.completed and run.answer is not None:
        return RunCompleted(
            run_id=run.id,
            message_id=run.answer.id,
            mode=run.answer.mode or AnswerMode.extractive,
            content=run.answer.content,
            citations=run.answer.citations,
            removed_citations=run.answer.removed_citations,
            sentences=run.answer.sentences,
            issues=run.issues,
            steps_executed=run.steps_executed,
            timings=run.timings,
        )
    if run.status is RunStatus.failed:
        return RunFailed(
            run_id=run.id, error_type=run.error_type or "internal-error", message=run.error_message or "The run failed"
        )
    return RunCancelled(run_id=run.id)


def _decoded(entry: tuple[bytes | str, Fields]) -> Entry:
    entry_id, texts = entry[0], as_texts(entry[1])
    return as_text(entry_id), texts["name"], texts["data"]
