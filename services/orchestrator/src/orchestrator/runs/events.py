"""One run's events on its Redis stream.

An entry's id is `<attempt>-<number>`, numbered from 1 without gaps. Redis refuses an id below the last one, so once a
later attempt has written, a superseded one cannot. All events except pieces of text, and events about them, are also
kept in PostgreSQL, where the attempt writes them with its lease.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from redis.asyncio import Redis
from redis.exceptions import RedisError

from contracts.run_events import (
    ArtifactDelta,
    MessageCompleted,
    MessageDelta,
    MessageRestarted,
    RunEventData,
    SentenceChecked,
    StageStarted,
    ThinkingDelta,
    run_stream,
)
from orchestrator.runs.records import StoredEvent
from service_kit.tracing import store_call

log = logging.getLogger(__name__)
# They describe a text while it is streamed; the final text is in `message_completed` or the artifact.
PASSING = (MessageDelta, ThinkingDelta, SentenceChecked, ArtifactDelta)
# Each write costs every process between here and the client, so events that nobody waits for gather for a moment.
GATHER_SECONDS = 0.02
AT_ONCE = (MessageDelta, ThinkingDelta, ArtifactDelta, MessageCompleted)


@dataclass
class RunEvents:
    """Writes one attempt's events: pieces of text at once, others with them or within GATHER_SECONDS.

    Those emitted during a write are written together.

    If Redis fails, the run continues without live events (`lost` is then true); followers get `facts` from PostgreSQL:
    all events but the transient ones. `stage` is the one that began last. `on_first_words` is called once.
    """

    redis: Redis
    run_id: UUID
    attempt: int
    ttl_seconds: int
    lost: bool = False
    stage: str | None = None
    facts: list[StoredEvent] = field(default_factory=list)
    number: int = 0
    on_first_words: Callable[[], None] | None = None

    def __post_init__(self) -> None:
        self._waiting: list[StoredEvent] = []
        self._writer: asyncio.Task[None] | None = None
        self._opened = False
        self._due = asyncio.Event()

    def emit(self, event: RunEventData) -> None:
        """Queues the event to be written soon, in the order of calls."""
        if isinstance(event, StageStarted):
            self.stage = event.stage
        if self.on_first_words and isinstance(event, MessageDelta | MessageCompleted | ArtifactDelta):
            self.on_first_words()
            self.on_first_words = None
        numbered = self.following(event)
        self.number = numbered.number
        if not isinstance(event, PASSING):
            self.facts.append(numbered)
        if self.lost and not event.terminal:
            return
        self._waiting.append(numbered)
        if event.terminal or isinstance(event, AT_ONCE):
            self._due.set()
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())

    def following(self, event: RunEventData) -> StoredEvent:
        """Returns the event as it would be emitted next."""
        return StoredEvent(self.attempt, self.number + 1, event.name, event.model_dump_json())

    async def flush(self) -> None:
        """Writes all emitted events, and waits until that is done."""
        if self._waiting:
            self._due.set()
        if self._writer is not None:
            await asyncio.wait({self._writer})

    async def delete(self) -> None:
        """Deletes the stream once nothing more is written."""
        await self.flush()
        try:
            await self.redis.delete(run_stream(self.run_id))
        except RedisError as error:
            self._lose(error)

    async def streamed_before(self) -> bool:
        """Returns whether an earlier attempt has, or may have, streamed a part of the answer that is still valid."""
        try:
            entries: Any = await self.redis.xrevrange(run_stream(self.run_id))
        except RedisError as error:
            self._lose(error)
            return True
        for _, fields in entries:
            name = fields[b"name"].decode()
            if name in (MessageDelta.name, MessageRestarted.name):
                return bool(name == MessageDelta.name)
        return not entries

    async def _write(self) -> None:
        while self._waiting:
            with suppress(TimeoutError):
                async with asyncio.timeout(GATHER_SECONDS):
                    await self._due.wait()
            self._due.clear()
            batch, self._waiting = self._waiting, []
            try:
                await self._add(batch)
            except RedisError as error:
                self._lose(error)

    async def _add(self, batch: Sequence[StoredEvent]) -> None:
        stream = run_stream(self.run_id)
        # Within a transaction, so that a reader that waits is woken by all of them, not by the first alone.
        async with self.redis.pipeline(transaction=len(batch) > 1) as pipe:
            for event in batch:
                # Only the first event creates the stream, so one that was deleted with its session does not come back.
                pipe.xadd(
                    stream,
                    {"name": event.name, "data": event.data},
                    id=event.id,
                    nomkstream=self._opened,
                )
                self._opened = True
            pipe.expire(stream, self.ttl_seconds)
            with store_call("redis XADD"):
                await pipe.execute()

    def _lose(self, error: RedisError) -> None:
        if not self.lost:
            log.warning("run events lost", exc_info=error, extra={"run_id": str(self.run_id), "attempt": self.attempt})
        self.lost = True
