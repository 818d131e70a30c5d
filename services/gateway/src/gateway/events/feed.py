"""Reads the services' streams once for all readers of this process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from gateway.events.entries import STREAMS, Positions, TellingEntry, telling
from service_kit.event_signatures import EventSignatures
from service_kit.problems import Unavailable
from service_kit.stream_entries import EntryId, Fields, entries_read, format_id, parse_id

READ_AT_ONCE, MOST_WAITING = 200, 1_000
START_SECONDS = 2.0


@dataclass(frozen=True)
class StreamState:
    """What a stream has: the ids of the newest entry ever written, and of the oldest one that is still there.

    `whole`: it has every entry that was ever written.
    """

    newest: EntryId
    oldest: EntryId
    whole: bool

    def lacks(self, after: EntryId) -> bool:
        """Returns whether entries after the id may be gone."""
        return not self.whole and after < self.oldest


@dataclass(eq=False)
class FeedSubscription:
    """The entries after `begins` that a reader has not taken. It ends if Redis fails, or the reader is too slow."""

    begins: Positions
    waiting: list[TellingEntry] = field(default_factory=list)
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    has_ended: bool = False

    def add(self, entry: TellingEntry) -> None:
        if len(self.waiting) == MOST_WAITING:
            self.end()
        self.waiting.append(entry)
        self.woken.set()

    def end(self) -> None:
        self.has_ended = True
        self.woken.set()

    async def taken(self, seconds: float) -> list[TellingEntry]:
        """Returns the next entries; none if none comes in time."""
        try:
            async with asyncio.timeout(seconds):
                await self.woken.wait()
        except TimeoutError:
            return []
        self.woken.clear()
        taken, self.waiting = self.waiting, []
        return taken


class Feed:
    """Passes entries on to the subscriptions of their workspace, on one connection to Redis."""

    def __init__(self, redis: Redis, signatures: EventSignatures, block_seconds: float) -> None:
        """`redis` must allow reads that last longer than the block."""
        self.redis, self.signatures, self.block_seconds = redis, signatures, block_seconds
        self.positions: dict[str, EntryId] = {}
        self.is_reading = asyncio.Event()
        self.subscriptions: dict[UUID, set[FeedSubscription]] = {}

    async def run(self) -> None:
        """Reads until cancelled. Raises RedisError and OSError; then all subscriptions end."""
        try:
            self.positions = {stream: (await self.state(stream)).newest for stream in STREAMS}
            self.is_reading.set()
            while True:
                await self._read()
        finally:
            self.is_reading.clear()
            for one in [one for several in self.subscriptions.values() for one in several]:
                one.end()

    @contextmanager
    def subscribed(self, workspace_id: UUID) -> Iterator[FeedSubscription]:
        """Yields a subscription that ends with the block."""
        one = FeedSubscription(self.positions)
        several = self.subscriptions.setdefault(workspace_id, set())
        several.add(one)
        if not self.is_reading.is_set():
            one.end()
        try:
            yield one
        finally:
            several.discard(one)
            if not several:
                self.subscriptions.pop(workspace_id, None)

    async def started(self) -> None:
        """Waits until it reads. Raises Unavailable."""
        try:
            async with asyncio.timeout(START_SECONDS):
                await self.is_reading.wait()
        except TimeoutError:
            raise Unavailable("Redis, which holds the events, does not answer") from None

    async def state(self, stream: str) -> StreamState:
        try:
            found: Any = await self.redis.xinfo_stream(stream)
        except ResponseError as error:
            if "no such key" not in str(error):
                raise
            return StreamState((0, 0), (0, 0), whole=True)
        newest = parse_id(found["last-generated-id"])
        oldest = parse_id(found["first-entry"][0]) if found["first-entry"] else newest
        return StreamState(newest, oldest, whole=found["entries-added"] == found["length"])

    async def _read(self) -> None:
        """Passes on the next entries of all streams; returns without any if none comes within the block."""
        positions: Any = {stream: format_id(position) for stream, position in self.positions.items()}
        answer: Any = await self.redis.xread(positions, count=READ_AT_ONCE, block=int(1000 * self.block_seconds))
        for stream, entry_id, fields in entries_read(answer):
            self._pass_on(stream, parse_id(entry_id), fields)

    def _pass_on(self, stream: str, entry_id: EntryId, fields: Fields) -> None:
        self.positions = {**self.positions, stream: entry_id}
        if self.subscriptions and (entry := telling(self.signatures, self.positions, stream, fields)):
            for one in self.subscriptions.get(entry.workspace_id, ()):
                one.add(entry)
