"""One run's events on its Redis stream.

An entry's id is `<attempt>-<number>`. Redis refuses an id below the last one, so once a later attempt has written,
nothing of a superseded one can come between.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from redis.asyncio import Redis
from redis.exceptions import RedisError

from contracts.events import MessageDelta, MessageRestarted, RunEventData, StageStarted, run_stream

log = logging.getLogger(__name__)


@dataclass
class RunEvents:
    """Writes one attempt's events; those that gather during a write are written together.

    If Redis fails the run continues without live events (`lost` is then true); followers get its result from
    PostgreSQL. `stage` is the one that began last.
    """

    redis: Redis
    run_id: UUID
    attempt: int
    ttl_seconds: int
    lost: bool = False
    stage: str | None = None

    def __post_init__(self) -> None:
        self._waiting: list[RunEventData] = []
        self._writer: asyncio.Task[None] | None = None
        self._opened = False

    def emit(self, event: RunEventData) -> None:
        """Has the event written soon, in the order of the calls."""
        if isinstance(event, StageStarted):
            self.stage = event.stage
        if self.lost and not event.terminal:
            return
        self._waiting.append(event)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())

    async def flush(self) -> None:
        """Waits until all that was emitted is written."""
        if self._writer is not None:
            await asyncio.wait({self._writer})

    async def streamed_before(self) -> bool:
        """Returns whether an earlier attempt has streamed a part of the answer that still counts."""
        try:
            entries: Any = await self.redis.xrevrange(run_stream(self.run_id))
        except RedisError as error:
            self._lose(error)
            return False
        for _, fields in entries:
            name = fields[b"name"].decode()
            if name in (MessageDelta.name, MessageRestarted.name):
                return bool(name == MessageDelta.name)
        return False

    async def _write(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                await self._add(batch)
            except RedisError as error:
                self._lose(error)

    async def _add(self, batch: Sequence[RunEventData]) -> None:
        stream = run_stream(self.run_id)
        async with self.redis.pipeline(transaction=False) as pipe:
            for event in batch:
                # Only the first event makes the stream: one that was deleted with its session does not come back.
                pipe.xadd(
                    stream,
                    {"name": event.name, "data": event.model_dump_json()},
                    id=f"{self.attempt}-*",
                    nomkstream=self._opened,
                )
                self._opened = True
            pipe.expire(stream, self.ttl_seconds)
            await pipe.execute()

    def _lose(self, error: RedisError) -> None:
        if not self.lost:
            log.warning("run events lost", exc_info=error, extra={"run_id": str(self.run_id), "attempt": self.attempt})
        self.lost = True
