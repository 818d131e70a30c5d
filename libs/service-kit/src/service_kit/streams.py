"""Consumer groups on Redis streams: nothing is lost, what fails is retried with backoff, then kept as a dead letter."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from opentelemetry.trace import SpanKind
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from contracts.events import Event
from service_kit.problems import WorkspaceGone
from service_kit.telemetry import Metrics
from service_kit.tracing import span

log = logging.getLogger(__name__)
KEPT = timedelta(days=7)
TRIM_SECONDS = 3600.0
Handler = Callable[[Event], Awaitable[None]]
DeadLetter = Callable[[Event, str], Awaitable[None]]


@dataclass(frozen=True)
class RetryPolicy:
    """Seconds. An event is retried after `first_delay`, doubling up to `longest_delay`, and is dead after `attempts`.

    What a consumer holds without a sign of life for `reclaim_after` is taken over by another.
    """

    attempts: int = 6
    first_delay: float = 0.5
    longest_delay: float = 30.0
    reclaim_after: float = 15.0

    def delay(self, attempt: int) -> float:
        return float(min(self.first_delay * 2 ** (attempt - 1), self.longest_delay))


def dead_letters(stream: str) -> str:
    """The stream's twin that keeps what could not be handled."""
    return f"{stream}.dead"


@dataclass
class Consumer:
    """Reads one stream in one group. Events without a handler are acknowledged and passed over.

    `handlers` by event type; a handler must be idempotent by event id (`outbox.first_time`). `on_dead` is told when an
    event is given up, so that the failure shows where users look; it stays in the dead letters and can be replayed.
    """

    redis: Redis
    stream: str
    group: str
    handlers: Mapping[str, Handler]
    metrics: Metrics
    on_dead: DeadLetter | None = None
    policy: RetryPolicy = RetryPolicy()
    name: str = field(default_factory=lambda: f"{socket.gethostname()}-{os.getpid()}")
    block_seconds: float = 2.0

    async def run(self) -> None:
        """Runs until cancelled; raises when Redis is away (its supervisor starts it again)."""
        await self.ensure_group()
        next_reclaim = next_trim = 0.0
        while True:
            now = asyncio.get_running_loop().time()
            if now >= next_trim:
                await trim(self.redis, self.stream, KEPT)
                next_trim = now + TRIM_SECONDS
            if now >= next_reclaim:
                await self.reclaim()
                next_reclaim = now + self.policy.reclaim_after / 3
            await self.read_batch()

    async def ensure_group(self) -> None:
        """Creates stream and group where missing; the group reads from the stream's beginning."""
        with suppress(ResponseError):  # BUSYGROUP: it exists
            await self.redis.xgroup_create(self.stream, self.group, id="0", mkstream=True)

    async def read_batch(self) -> int:
        """Handles what is new, waiting up to `block_seconds` for it; returns how many entries there were."""
        try:
            answer: Any = await self.redis.xreadgroup(
                self.group, self.name, {self.stream: ">"}, count=16, block=int(1000 * self.block_seconds)
            )
        except ResponseError as error:
            if "NOGROUP" not in str(error):
                raise
            await self.ensure_group()  # the server lost its data: producers will write again
            return 0
        streams = answer.items() if isinstance(answer, dict) else answer or []
        entries = [entry for _, batches in streams for entry in _flat(batches)]
        for entry_id, fields in entries:
            await self.handle(entry_id, fields)
        return len(entries)

    async def reclaim(self) -> None:
        """Takes over what a dead consumer of the group held."""
        idle = int(1000 * self.policy.reclaim_after)
        cursor = "0-0"
        while True:
            answer: Any = await self.redis.xautoclaim(self.stream, self.group, self.name, idle, cursor, count=16)
            cursor, entries = _text(answer[0]), answer[1]
            for entry_id, fields in entries:
                await self.handle(entry_id, fields)
            if cursor == "0-0":
                return

    async def handle(self, entry_id: bytes | str, fields: Mapping[Any, Any]) -> None:
        """Handles one entry, retrying in place (events of one stream keep their order), and acknowledges it."""
        try:
            event = Event.model_validate_json(fields.get(b"event", fields.get("event", b"")))
        except ValueError as error:
            await self._bury(entry_id, fields, None, f"not an event: {error}")
            return
        handler = self.handlers.get(event.type)
        if handler is None:
            await self._done(entry_id, event, "skipped")
            return
        alive = asyncio.create_task(self._keep_claim(entry_id))
        try:
            await self._attempt(entry_id, fields, event, handler)
        finally:
            alive.cancel()

    async def _attempt(self, entry_id: bytes | str, fields: Mapping[Any, Any], event: Event, handler: Handler) -> None:
        carrier = {"traceparent": event.traceparent} if event.traceparent else None
        for attempt in range(1, self.policy.attempts + 1):
            try:
                with span(f"{self.group} {event.type}", carrier, SpanKind.CONSUMER):
                    await handler(event)
            except WorkspaceGone:  # there is nothing left to do it to
                await self._done(entry_id, event, "skipped")
                return
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"[:1000]
                extra = {"event_id": str(event.id), "event_type": event.type, "attempt": attempt, "group": self.group}
                log.warning("event failed", extra=extra, exc_info=error)
                self.metrics.events.labels(self.group, event.type, "failed").inc()
                if attempt == self.policy.attempts:
                    await self._bury(entry_id, fields, event, reason)
                    return
                await asyncio.sleep(self.policy.delay(attempt))
            else:
                await self._done(entry_id, event, "handled")
                return

    async def _done(self, entry_id: bytes | str, event: Event, outcome: str) -> None:
        await self.redis.xack(self.stream, self.group, entry_id)
        self.metrics.events.labels(self.group, event.type, outcome).inc()

    async def _keep_claim(self, entry_id: bytes | str) -> None:
        """Shows the group that the entry is being worked on, so that nobody reclaims it."""
        while True:
            await asyncio.sleep(self.policy.reclaim_after / 3)
            await self.redis.xclaim(self.stream, self.group, self.name, 0, [entry_id], justid=True)

    async def _bury(self, entry_id: bytes | str, fields: Mapping[Any, Any], event: Event | None, reason: str) -> None:
        if event and self.on_dead:
            await self.on_dead(event, reason)
        letter: dict[Any, Any] = {
            "event": event.model_dump_json() if event else json.dumps({_text(k): _text(v) for k, v in fields.items()}),
            "group": self.group,
            "entry": _text(entry_id),
            "reason": reason,
            "failed_at": datetime.now(UTC).isoformat(),
        }
        async with self.redis.pipeline(transaction=True) as pipe:
            pipe.xadd(dead_letters(self.stream), letter)
            pipe.xack(self.stream, self.group, entry_id)
            await pipe.execute()
        log.error("dead letter", extra={"group": self.group, "entry": _text(entry_id), "reason": reason})
        self.metrics.events.labels(self.group, event.type if event else "unreadable", "dead").inc()


async def replay(redis: Redis, stream: str, group: str) -> int:
    """Puts the group's dead letters back on the stream; returns how many. Other groups know these events, and skip."""
    letters: Any = await redis.xrange(dead_letters(stream))
    count = 0
    for entry_id, fields in letters:
        letter = {_text(key): _text(value) for key, value in fields.items()}
        if letter["group"] == group:
            async with redis.pipeline(transaction=True) as pipe:
                pipe.xadd(stream, {"event": letter["event"]})
                pipe.xdel(dead_letters(stream), entry_id)
                await pipe.execute()
            count += 1
    return count


async def trim(redis: Redis, stream: str, older_than: timedelta) -> int:
    """Drops entries that are older and that every group has handled, so that a stream does not fill the server.

    Returns how many. A stream that no group reads yet keeps all.
    """
    groups: Any = await redis.xinfo_groups(stream)
    if not groups:
        return 0
    handled = [(int((datetime.now(UTC) - older_than).timestamp() * 1000), 0)]
    for group in groups:
        pending: Any = await redis.xpending(stream, group["name"])
        handled.append(_position(pending["min"] or group["last-delivered-id"]))
    milliseconds, sequence = min(handled)
    return int(await redis.xtrim(stream, minid=f"{milliseconds}-{sequence}", approximate=False))


def _position(entry_id: bytes | str) -> tuple[int, int]:
    milliseconds, _, sequence = _text(entry_id).partition("-")
    return int(milliseconds), int(sequence)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _flat(batches: Any) -> list[tuple[bytes | str, Mapping[Any, Any]]]:
    """Entries of one stream: redis-py gives them as a list, or (RESP3) as a list of lists."""
    return [entry for batch in batches for entry in (batch if isinstance(batch, list) else [batch])]
