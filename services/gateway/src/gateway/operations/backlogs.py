"""How far each service is behind on the event streams."""

from __future__ import annotations

import time
from typing import Any

from redis.asyncio import Redis

from contracts.events import DOCUMENTS, TURNS
from contracts.gateway import Backlog
from service_kit.stream_entries import written_at
from service_kit.stream_groups import GroupBacklog, backlogs


async def read_backlogs(redis: Redis) -> list[Backlog]:
    """Returns the backlogs of all consumer groups, the furthest behind first. Raises RedisError."""
    found = [
        await _with_age(redis, stream, backlog)
        for stream in (DOCUMENTS, TURNS)
        for backlog in await backlogs(redis, stream)
    ]
    return sorted(found, key=lambda one: -one.oldest_seconds)


async def _with_age(redis: Redis, stream: str, backlog: GroupBacklog) -> Backlog:
    unread: Any = await redis.xrange(stream, min=f"({backlog.last_given}", count=1)
    since = [written_at(entry_id) for entry_id, _ in unread]
    if backlog.held_since is not None:
        since.append(backlog.held_since)
    return Backlog(
        stream=stream.removeprefix("attractor."),
        service=backlog.group,
        waiting=backlog.waiting,
        held=backlog.held,
        oldest_seconds=max(0.0, time.time() - min(since)) if since else 0.0,
    )
