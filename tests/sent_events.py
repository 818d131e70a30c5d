"""Events on the streams, as their sources write them, for tests of a service that consumes them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID, uuid4

from redis.asyncio import Redis

from contracts.events import Event, EventData


def event_of(data: EventData, workspace_id: UUID, event_id: UUID | None = None) -> Event:
    """Returns the event with this data, as its first source would publish it now."""
    return Event(
        id=event_id or uuid4(),
        source=data.sources[0],
        type=data.event_type,
        time=datetime.now(UTC),
        subject=str(getattr(data, "document_id", "test")),
        workspace_id=workspace_id,
        data=data.model_dump(mode="json"),
    )


async def send_events(
    redis: Redis, several: Sequence[EventData], workspace_id: UUID, event_id: UUID | None = None
) -> list[UUID]:
    """Writes events that are read together; returns their ids."""
    events = [event_of(data, workspace_id, event_id) for data in several]
    async with redis.pipeline(transaction=True) as pipe:
        for data, event in zip(several, events, strict=True):
            pipe.xadd(data.stream, {"event": event.model_dump_json()})
        await pipe.execute()
    return [event.id for event in events]
