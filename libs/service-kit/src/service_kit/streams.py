"""Consumer groups on Redis streams: nothing is lost; failures are retried with backoff, then kept as dead letters."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from opentelemetry.trace import SpanKind
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from contracts.backoff import backoff
from contracts.events import Event
from service_kit.admission import Admission, AdmissionVerdict, Decision
from service_kit.event_signatures import EventSignatures
from service_kit.problems import WorkspaceGone
from service_kit.telemetry import Metrics
from service_kit.tracing import span

log = logging.getLogger(__name__)
KEPT, MOST_BYTES = timedelta(days=7), 32 * 2**20  # of entries that all groups of a stream have handled
TRIM_SECONDS = 60.0
SAMPLES = 50  # nodes of a stream from which Redis estimates its size
READ_AT_ONCE = 128
GATHER_SECONDS = 0.05
RESULTS = ("handled", "skipped", "failed", "dead", "refused", "waiting")
OTHER, UNREADABLE = "other", "unreadable"  # labels of events without a handler here, and of entries that are not events
EVENT_FIELDS = ("event", "signature")  # the fields of an entry
Handler = Callable[[Event], Awaitable[None]]
Together = Callable[[Sequence[Event]], Awaitable[None]]
Entry = tuple[bytes | str, Mapping[Any, Any]]
TellDead = Callable[[Event, str], Awaitable[None]]


@dataclass(frozen=True)
class RetryPolicy:
    """Seconds. An event is retried after `first_delay`, doubling up to `longest_delay`, and is dead after `attempts`.

    Events that a consumer holds without activity for `reclaim_after` are taken over by another.
    """

    attempts: int = 6
    first_delay: float = 0.5
    longest_delay: float = 30.0
    reclaim_after: float = 15.0

    def delay(self, attempt: int) -> float:
        return backoff(attempt, self.first_delay, self.longest_delay)


def dead_letters(stream: str) -> str:
    """Returns the name of the stream that keeps the dead letters."""
    return f"{stream}.dead"


@dataclass
class Consumer:
    """Reads one stream in one group. Events without a handler are acknowledged and skipped.

    `handlers` by event type; a handler must be idempotent by event id (`outbox.first_time`). `on_dead` is called when
    an event is given up, so that users can see the failure; the event stays in the dead letters and can be replayed.

    An event that its source has not signed is refused. `admission` decides which of the others are accepted. A refused
    event is a dead letter at once, without a call of `on_dead`; an event whose owner does not answer stays with the
    group until `reclaim` comes to it again.

    `together` may have, by event type, a further handler for several events of one workspace and different subjects
    that follow each other with no other handled event in between. If it fails, each event is handled separately.
    """

    redis: Redis
    stream: str
    group: str
    handlers: Mapping[str, Handler]
    metrics: Metrics
    signatures: EventSignatures
    on_dead: TellDead | None = None
    policy: RetryPolicy = RetryPolicy()
    together: Mapping[str, Together] = field(default_factory=dict)
    admission: Admission = field(default_factory=Admission)
    name: str = field(default_factory=lambda: f"{socket.gethostname()}-{os.getpid()}")
    block_seconds: float = 2.0

    def __post_init__(self) -> None:
        """Raises ValueError if a deletion would be handled without an owner to confirm it."""
        for kind in self.handlers:
            self.admission.owner_of(kind)
            for result in RESULTS:  # created at start, so that the first dead letter is an increase
                self.metrics.events.labels(self.group, kind, result)
        self.metrics.events.labels(self.group, UNREADABLE, "dead")

    async def run(self) -> None:
        """Runs until cancelled; raises if Redis does not answer (its supervisor starts it again)."""
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
            if 0 < await self.read_batch() < READ_AT_ONCE:
                # The first event of a burst is handled at once, those that follow it together.
                await asyncio.sleep(GATHER_SECONDS)

    async def ensure_group(self) -> None:
        """Creates stream and group if missing; the group reads from the stream's beginning."""
        try:
            await self.redis.xgroup_create(self.stream, self.group, id="0", mkstream=True)
        except ResponseError as error:
            if "BUSYGROUP" not in str(error):  # it already exists
                raise

    async def read_batch(self) -> int:
        """Handles new entries, waiting up to `block_seconds` for them; returns how many there were."""
        try:
            answer: Any = await self.redis.xreadgroup(
                self.group, self.name, {self.stream: ">"}, count=READ_AT_ONCE, block=int(1000 * self.block_seconds)
            )
        except ResponseError as error:
            if "NOGROUP" not in str(error):
                raise
            await self.ensure_group()  # the server lost its data; producers will publish again
            return 0
        streams = answer.items() if isinstance(answer, dict) else answer or []
        entries = [entry for _, batches in streams for entry in _flat(batches)]
        await self.handle_all(entries)
        return len(entries)

    async def handle_all(self, entries: Sequence[Entry]) -> None:
        """Handles entries in order, concurrently where possible."""
        read = [(entry, _event(entry[1])) for entry in entries]
        # Whoever signed them: they concern others.
        others = [(entry[0], event) for entry, event in read if event and event.type not in self.handlers]
        await self._done(others, "skipped")
        mine = [(entry, event) for entry, event in read if event is None or event.type in self.handlers]
        proved = [event is not None and self._is_proved(*entry, event) for entry, event in mine]
        handled = [event for (_, event), is_proved in zip(mine, proved, strict=True) if event and is_proved]
        decisions = iter(await self.admission.decide(handled))
        run: list[tuple[Entry, Event]] = []
        for (entry, event), is_proved in zip(mine, proved, strict=True):
            if event is None:
                await self._bury(*entry, None, "not an event")
            elif not is_proved:
                await self._bury(*entry, event, f"{event.source} has not signed it", "refused")
            elif (decision := next(decisions)).verdict is not AdmissionVerdict.admitted:
                await self._turn_away(entry, event, decision)
            else:
                if run and not _fits(event, run):
                    await self._handle_run(run)
                    run = []
                if event.type in self.together:
                    run.append((entry, event))
                else:
                    await self._handle(entry, event)
        await self._handle_run(run)

    def _is_proved(self, entry_id: bytes | str, fields: Mapping[Any, Any], event: Event) -> bool:
        return self.signatures.proves(self.stream, _text(entry_id), _texts(fields), event.source)

    async def _turn_away(self, entry: Entry, event: Event, decision: Decision) -> None:
        if decision.verdict is AdmissionVerdict.refused:
            await self._bury(*entry, event, decision.reason, "refused")
            return
        extra = {"event_id": str(event.id), "event_type": event.type, "group": self.group, "reason": decision.reason}
        log.warning("event waits for confirmation by its owner", extra=extra)
        self.metrics.events.labels(self.group, event.type, "waiting").inc()

    async def _handle_run(self, run: Sequence[tuple[Entry, Event]]) -> None:
        if len(run) < 2 or not await self._handled_together(run):
            for entry, event in run:
                await self._handle(entry, event)

    async def _handled_together(self, run: Sequence[tuple[Entry, Event]]) -> bool:
        events = [event for _, event in run]
        async with self._claimed([entry_id for (entry_id, _), _ in run]):
            try:
                first, *others = map(_carrier, events)
                with span(f"{self.group} {events[0].type} together", first, SpanKind.CONSUMER, linked=others):
                    await self.together[events[0].type](events)
            except Exception as error:  # each is then handled by itself, and failures are recorded
                extra = {"events": len(events), "group": self.group}
                log.warning("batch of events failed", extra=extra, exc_info=error)
                return False
        await self._done([(entry_id, event) for (entry_id, _), event in run], "handled")
        return True

    async def reclaim(self) -> None:
        """Takes over the entries of dead consumers of the group."""
        idle = int(1000 * self.policy.reclaim_after)
        cursor = "0-0"
        while True:
            answer: Any = await self.redis.xautoclaim(
                self.stream, self.group, self.name, idle, cursor, count=READ_AT_ONCE
            )
            cursor, entries = _text(answer[0]), answer[1]
            await self.handle_all(entries)
            if cursor == "0-0":
                return

    async def _handle(self, entry: Entry, event: Event) -> None:
        """Handles one entry, retrying in place (events of one stream keep their order), and acknowledges it."""
        async with self._claimed([entry[0]]):
            await self._attempt(*entry, event, self.handlers[event.type])

    async def _attempt(self, entry_id: bytes | str, fields: Mapping[Any, Any], event: Event, handler: Handler) -> None:
        for attempt in range(1, self.policy.attempts + 1):
            try:
                with span(f"{self.group} {event.type}", _carrier(event), SpanKind.CONSUMER):
                    await handler(event)
            except WorkspaceGone:  # the data that it is about no longer exists
                await self._done([(entry_id, event)], "skipped")
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
                await self._done([(entry_id, event)], "handled")
                return

    async def _done(self, entries: Sequence[tuple[bytes | str, Event]], outcome: str) -> None:
        if entries:
            await self.redis.xack(self.stream, self.group, *(entry_id for entry_id, _ in entries))
        for _, event in entries:
            self.metrics.events.labels(self.group, self._label(event), outcome).inc()

    def _label(self, event: Event | None) -> str:
        if event is None:
            return UNREADABLE
        return event.type if event.type in self.handlers else OTHER

    @asynccontextmanager
    async def _claimed(self, entry_ids: list[Any]) -> AsyncIterator[None]:
        """Shows the group that the entries are in progress, so that no other consumer reclaims them."""
        alive = asyncio.create_task(self._keep_claim(entry_ids))
        try:
            yield
        finally:
            alive.cancel()

    async def _keep_claim(self, entry_ids: list[Any]) -> None:
        while True:
            await asyncio.sleep(self.policy.reclaim_after / 3)
            await self.redis.xclaim(self.stream, self.group, self.name, 0, entry_ids, justid=True)

    async def _bury(
        self, entry_id: bytes | str, fields: Mapping[Any, Any], event: Event | None, reason: str, outcome: str = "dead"
    ) -> None:
        if event and self.on_dead and outcome == "dead":  # a refused event counts as never published
            await self.on_dead(event, reason)
        texts = _texts(fields)
        letter: dict[Any, Any] = {
            **(
                {name: texts[name] for name in EVENT_FIELDS if name in texts} if event else {"event": json.dumps(texts)}
            ),
            "group": self.group,
            "entry": _text(entry_id),
            "reason": reason if outcome == "dead" else f"{outcome}: {reason}",
            "failed_at": datetime.now(UTC).isoformat(),
        }
        async with self.redis.pipeline(transaction=True) as pipe:
            pipe.xadd(dead_letters(self.stream), letter)
            pipe.xack(self.stream, self.group, entry_id)
            await pipe.execute()
        kind = "refused event" if outcome == "refused" else "dead letter"
        log.error(kind, extra={"group": self.group, "entry": _text(entry_id), "reason": reason})
        self.metrics.events.labels(self.group, self._label(event), outcome).inc()


async def replay(redis: Redis, stream: str, group: str) -> int:
    """Puts the group's dead letters back on the stream; returns how many. Other groups skip them as already handled."""
    letters: Any = await redis.xrange(dead_letters(stream))
    count = 0
    for entry_id, fields in letters:
        letter = _texts(fields)
        if letter["group"] == group:
            await deliver_again(redis, stream, _text(entry_id), letter)
            count += 1
    return count


async def deliver_again(redis: Redis, stream: str, entry_id: str, letter: Mapping[str, str]) -> None:
    """Puts a dead letter back on its stream, as it was signed."""
    async with redis.pipeline(transaction=True) as pipe:
        pipe.xadd(stream, {name: letter[name] for name in EVENT_FIELDS if name in letter})
        pipe.xdel(dead_letters(stream), entry_id)
        await pipe.execute()


@dataclass(frozen=True)
class GroupBacklog:
    """How far a consumer group is behind: events not yet delivered to it, and events delivered but not handled.

    `waiting` is None while Redis does not know it, as after entries were deleted. `last_given` is the id of the last
    event delivered, `held_since` the time in seconds at which the oldest unhandled one was written.
    """

    group: str
    waiting: int | None
    held: int
    last_given: str
    held_since: float | None


async def backlogs(redis: Redis, stream: str, group: str | None = None) -> list[GroupBacklog]:
    """Returns the backlogs of all groups, or of one; none if the stream does not exist. Raises RedisError."""
    try:
        groups: Any = await redis.xinfo_groups(stream)
    except ResponseError as error:
        if "no such key" not in str(error):
            raise
        return []
    return [await _backlog(redis, stream, one) for one in groups if group in (None, _text(one["name"]))]


async def _backlog(redis: Redis, stream: str, group: Any) -> GroupBacklog:
    held: Any = await redis.xpending(stream, group["name"])
    since = written_at(held["min"]) if held["min"] else None
    return GroupBacklog(_text(group["name"]), group["lag"], held["pending"], _text(group["last-delivered-id"]), since)


def written_at(entry_id: bytes | str) -> float:
    """Returns when an entry was written, in seconds since 1970."""
    return _position(entry_id)[0] / 1000


async def trim(redis: Redis, stream: str, older_than: timedelta, most_bytes: int = MOST_BYTES) -> int:
    """Drops entries that every group has handled: older ones, and the oldest while the stream takes more bytes.

    Returns how many. A stream that no group reads yet keeps all. Entries that a group still needs stay, whatever their
    size; if the server is then full, the outboxes wait.
    """
    groups: Any = await redis.xinfo_groups(stream)
    if not groups:
        return 0
    needed = []
    for group in groups:
        pending: Any = await redis.xpending(stream, group["name"])
        needed.append(_position(pending["min"] or group["last-delivered-id"]))
    kept = (int((datetime.now(UTC) - older_than).timestamp() * 1000), 0)
    dropped = int(await redis.xtrim(stream, minid=_entry_id(min(kept, *needed)), approximate=False))
    size = await redis.memory_usage(stream, samples=SAMPLES) or 0
    if size > most_bytes:
        length = await redis.xlen(stream)
        excess = length - int(length * most_bytes / size)
        dropped += int(await redis.xtrim(stream, minid=_entry_id(min(needed)), approximate=True, limit=excess))
    return dropped


def _position(entry_id: bytes | str) -> tuple[int, int]:
    milliseconds, _, sequence = _text(entry_id).partition("-")
    return int(milliseconds), int(sequence)


def _entry_id(position: tuple[int, int]) -> str:
    milliseconds, sequence = position
    return f"{milliseconds}-{sequence}"


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _texts(fields: Mapping[Any, Any]) -> dict[str, str]:
    return {_text(key): _text(value) for key, value in fields.items()}


def _encoded(fields: Mapping[Any, Any]) -> Any:
    return fields.get(b"event", fields.get("event", b""))


def _event(fields: Mapping[Any, Any]) -> Event | None:
    """Returns the event, or None if the entry is not one."""
    try:
        return Event.model_validate_json(_encoded(fields))
    except ValueError:
        return None


def _carrier(event: Event) -> dict[str, str]:
    return {"traceparent": event.traceparent} if event.traceparent else {}


def _fits(event: Event, run: Sequence[tuple[Entry, Event]]) -> bool:
    first = run[0][1]
    alike = (event.type, event.workspace_id) == (first.type, first.workspace_id)
    return alike and all(event.subject != other.subject for _, other in run)


def _flat(batches: Any) -> list[tuple[bytes | str, Mapping[Any, Any]]]:
    """Flattens the entries of one stream, which redis-py returns as a list or (RESP3) as a list of lists."""
    return [entry for batch in batches for entry in (batch if isinstance(batch, list) else [batch])]
