"""Transactional outbox: an event commits with the state change that it reports, and a relay publishes it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb
from redis.asyncio import Redis
from redis.exceptions import OutOfMemoryError

from contracts.events import Event, EventData
from service_kit.event_signatures import EventSignatures
from service_kit.notifications import Notifications
from service_kit.postgres import Connection, Database
from service_kit.tracing import outgoing_headers

log = logging.getLogger(__name__)
BATCH = 200
LONGEST_WAIT_SECONDS = FULL_SECONDS = 5.0
GATHER_SECONDS = 0.05
KEPT_DAYS = 14
FORGET_SECONDS = 3_600.0
INSERT: Final = "INSERT INTO outbox (workspace_id, stream, event) VALUES (%s, %s, %s)"
INSERT_ALL: Final = """
INSERT INTO outbox (workspace_id, stream, event)
SELECT workspace_id, stream, event
FROM unnest(%s::uuid[], %s::text[], %s::jsonb[]) WITH ORDINALITY AS row (workspace_id, stream, event, place)
ORDER BY place
"""


def new_event(source: str, workspace_id: UUID, data: EventData, subject: str) -> Event:
    """Returns the event with its envelope, in the current trace. `subject` is the id of what the event is about."""
    return Event(
        id=uuid4(),
        source=source,
        type=data.event_type,
        time=datetime.now(UTC),
        subject=subject,
        workspace_id=workspace_id,
        traceparent=outgoing_headers().get("traceparent"),
        data=data.model_dump(mode="json"),
    )


def event_row(data: EventData, event: Event) -> tuple[UUID, str, Jsonb]:
    """Returns the parameters of INSERT, for a sync or an async connection."""
    return event.workspace_id, data.stream, Jsonb(event.model_dump(mode="json"))


class Outbox:
    """Writes events into the caller's transaction."""

    def __init__(self, source: str) -> None:
        self.source = source

    async def write(self, connection: Connection, workspace_id: UUID, data: EventData, subject: str) -> Event:
        """`subject` is the id of what the event is about. Nothing is published unless the transaction commits."""
        event = new_event(self.source, workspace_id, data, subject)
        await connection.execute(INSERT, event_row(data, event))
        return event

    async def write_all(
        self, connection: Connection, workspace_id: UUID, events: Sequence[tuple[EventData, str]]
    ) -> None:
        """Writes several events, each with its subject, in one statement; they are published in this order."""
        rows = [event_row(data, new_event(self.source, workspace_id, data, subject)) for data, subject in events]
        if rows:
            await connection.execute(INSERT_ALL, tuple(map(list, zip(*rows, strict=True))))


class OutboxRelay:
    """Signs and publishes the outbox's events, in order and at least once: each is deleted after it is on its stream.

    While Redis is full it waits: PostgreSQL keeps the events.
    """

    def __init__(
        self,
        database: Database,
        redis: Redis,
        notifications: Notifications,
        schema: str,
        signatures: EventSignatures,
    ) -> None:
        self.signatures = signatures
        self.database, self.redis, self.notifications = database, redis, notifications
        self.channel = f"{schema}_outbox"
        self.lock = f"{schema}/outbox"

    async def run(self) -> None:
        """Runs until cancelled; wakes at once when an event is written."""
        async with self.notifications.subscribe(self.channel) as written:
            while True:
                try:
                    count = await self.publish_batch()
                except OutOfMemoryError:
                    log.warning("Redis is full, events wait", extra={"outbox": self.channel})
                    await asyncio.sleep(FULL_SECONDS)  # Redis does not say when it has room again
                    continue
                if 0 < count < BATCH:
                    # The first event of a burst is published at once, those that follow it together.
                    await asyncio.sleep(GATHER_SECONDS)
                if count < BATCH:
                    await written.wait(LONGEST_WAIT_SECONDS)

    async def publish_batch(self) -> int:
        """Publishes up to BATCH events and returns how many; also 0 while another replica is publishing."""
        async with self.database.system() as connection:
            cursor = await connection.execute("SELECT pg_try_advisory_xact_lock(hashtext(%s))", (self.lock,))
            if not (await cursor.fetchone() or (False,))[0]:
                return 0
            cursor = await connection.execute(
                "SELECT position, stream, event::text FROM outbox ORDER BY position LIMIT %s", (BATCH,)
            )
            rows = await cursor.fetchall()
            if rows:
                async with self.redis.pipeline(transaction=True) as pipe:  # a full Redis accepts all or none
                    for _, stream, event in rows:
                        pipe.xadd(stream, self.signatures.sign(stream, event))
                    await pipe.execute()
                await connection.execute("DELETE FROM outbox WHERE position = ANY(%s)", ([row[0] for row in rows],))
        return len(rows)


async def unsigned_until(database: Database) -> datetime:
    """Returns until when the service accepts unsigned events: shortly after the upgrade that introduced signatures."""
    async with database.system() as connection:
        row = await (await connection.execute("SELECT unsigned_until()")).fetchone()
    assert row is not None, "a function gives a row"
    until: datetime = row[0]
    return until


async def first_time(connection: Connection, event: Event) -> bool:
    """Returns True once per event. Call it in the transaction that handles the event, and skip the work on False.

    Events of a deleted workspace are never new; the workspace is not deleted before the transaction ends.
    """
    cursor = await connection.execute("SELECT first_time(%s, %s)", (event.workspace_id, event.id))
    return bool((await cursor.fetchone() or (False,))[0])


async def first_times(connection: Connection, events: Sequence[Event]) -> list[Event]:
    """Returns those of one workspace's events for which `first_time` is True, in one statement."""
    if not events:
        return []
    cursor = await connection.execute(
        "SELECT id FROM unnest(%s::uuid[]) AS event (id) WHERE first_time(%s, id)",
        ([event.id for event in events], events[0].workspace_id),
    )
    new = {row[0] for row in await cursor.fetchall()}
    return [event for event in {event.id: event for event in events}.values() if event.id in new]


async def forget_handled(database: Database) -> int:
    """Deletes the records of events that are too old to be redelivered; returns how many."""
    async with database.system() as connection:
        cursor = await connection.execute(
            "DELETE FROM handled_event WHERE handled_at < now() - make_interval(days => %s)", (KEPT_DAYS,)
        )
    return cursor.rowcount


async def keep_forgetting(database: Database) -> None:
    """Runs `forget_handled` hourly until cancelled; a background task of every service that consumes events."""
    while True:
        await forget_handled(database)
        await asyncio.sleep(FORGET_SECONDS)
