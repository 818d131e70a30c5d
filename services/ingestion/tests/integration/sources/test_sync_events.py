"""What ingestion says when a synchronisation changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

from redis.asyncio import Redis

from contracts.events import DOCUMENTS, Event, SyncChanged, event_data

MakeSource = Callable[..., Awaitable[Any]]


async def test_each_state_of_a_synchronisation_is_announced_and_dry_runs_too(
    make_source: MakeSource, documents: Path, redis_url: str, eventually: Any
) -> None:
    (documents / "a.md").write_text("text")
    source = await make_source()
    trial, done = await source.sync(dry_run=True), await source.sync()
    async with Redis.from_url(redis_url) as redis:

        async def announced() -> list[tuple[UUID, str, bool]]:
            entries = await redis.xrange(DOCUMENTS)
            events = [event_data(Event.model_validate_json(fields[b"event"])) for _, fields in entries]
            changed = [one for one in events if isinstance(one, SyncChanged)]
            assert all(str(one.source_id) == source.id for one in changed)
            return [(one.sync_id, one.status.value, one.dry_run) for one in changed]

        told = await eventually(announced, lambda found: len(found) == 6)
    states = ("queued", "running", "succeeded")
    assert told == [(UUID(one["id"]), state, one is trial) for one in (trial, done) for state in states]
