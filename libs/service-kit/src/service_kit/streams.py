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
from datetime import UTC, datetime
from typing import Any

from opentelemetry.trace import SpanKind
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from contracts.backoff import backoff
from contracts.events import Event
from service_kit.admission import Admission, AdmissionVerdict, Decision
from service_kit.event_signatures import EventSignatures
from service_kit.problems import WorkspaceGone
from service_kit.stream_entries import Fields, as_text, as_texts, entries_read, event_json
from service_kit.stream_groups import KEPT, trim
from service_kit.telemetry import Metrics
from service_kit.tracing import span

log = logging.getLogger(__name__)
TRIM_SECONDS = 60.0
READ_AT_ONCE = 128
GATHER_SECONDS = 0.05
RESULTS = ("handled", "skipped", "failed", "dead", "refused", "waiting")
OTHER, UNREADABLE = "other", "unreadable"  # labels of events without a handler here, and of entries that are not events
EVENT_FIELDS = ("event", "signature")  # the fields of an entry
Handler = Callable[[Event], Awaitable[None]]
Together = Callable[[Sequence[Event]], Awaitable[None]]
Entry = tuple[bytes | str, Fields]
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
        entries = [(entry_id, fields) for _, entry_id, fields in entries_read(answer)]
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

    def _is_proved(self, entry_id: bytes | str, fields: Fields, event: Event) -> bool:
        return self.signatures.proves(self.stream, as_text(entry_id), as_texts(fields), event.source)

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
            cursor, entries = as_text(answer[0]), answer[1]
            await self.handle_all(entries)
            if cursor == "0-0":
                return

    async def _handle(self, entry: Entry, event: Event) -> None:
        """Handles one entry, retrying in place (events of one stream keep their order), and acknowledges it."""
        async with self._claimed([entry[0]]):
            await self._attempt(*entry, event, self.handlers[event.type])

    async def _attempt(self, entry_id: bytes | str, fields: Fields, event: Event, handler: Handler) -> None:
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
        self, entry_id: bytes | str, fields: Fields, event: Event | None, reason: str, outcome: str = "dead"
    ) -> None:
        if event and self.on_dead and outcome == "dead":  # a refused event counts as never published
            await self.on_dead(event, reason)
        texts = as_texts(fields)
        letter: dict[Any, Any] = {
            **(
                {name: texts[name] for name in EVENT_FIELDS if name in texts} if event else {"event": json.dumps(texts)}
            ),
            "group": self.group,
            "entry": as_text(entry_id),
            "reason": reason if outcome == "dead" else f"{outcome}: {reason}",
            "failed_at": datetime.now(UTC).isoformat(),
        }
        async with self.redis.pipeline(transaction=True) as pipe:
            pipe.xadd(dead_letters(self.stream), letter)
            pipe.xack(self.stream, self.group, entry_id)
            await pipe.execute()
        kind = "refused event" if outcome == "refused" else "dead letter"
        log.error(kind, extra={"group": self.group, "entry": as_text(entry_id), "reason": reason})
        self.metrics.events.labels(self.group, self._label(event), outcome).inc()


async def replay(redis: Redis, stream: str, group: str) -> int:
    """Puts the group's dead letters back on the stream; returns how many. Other groups skip them as already handled."""
    letters: Any = await redis.xrange(dead_letters(stream))
    count = 0
    for entry_id, fields in letters:
        letter = as_texts(fields)
        if letter["group"] == group:
            await deliver_again(redis, stream, as_text(entry_id), letter)
            count += 1
    return count


async def deliver_again(redis: Redis, stream: str, entry_id: str, letter: Mapping[str, str]) -> None:
    """Puts a dead letter back on its stream, as it was signed."""
    async with redis.pipeline(transaction=True) as pipe:
        pipe.xadd(stream, {name: letter[name] for name in EVENT_FIELDS if name in letter})
        pipe.xdel(dead_letters(stream), entry_id)
        await pipe.execute()


def _event(fields: Fields) -> Event | None:
    """Returns the event, or None if the entry is not one."""
    try:
        return Event.model_validate_json(event_json(fields))
    except ValueError:
        return None


def _carrier(event: Event) -> dict[str, str]:
    return {"traceparent": event.traceparent} if event.traceparent else {}


def _fits(event: Event, run: Sequence[tuple[Entry, Event]]) -> bool:
    first = run[0][1]
    alike = (event.type, event.workspace_id) == (first.type, first.workspace_id)
    return alike and all(event.subject != other.subject for _, other in run)
