"""How far each service is behind on the streams of events."""

from __future__ import annotations

import time
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from contracts.events import DOCUMENTS, TURNS
from contracts.gateway import Backlog

STREAMS = (DOCUMENTS, TURNS)


async def read_backlogs(redis: Redis) -> list[Backlog]:
    """Returns those of every consumer group, the furthest behind first. Raises RedisError."""
    found = [backlog for stream in STREAMS for backlog in await _of_stream(redis, stream)]
    return sorted(found, key=lambda one: -one.oldest_seconds)


async def _of_stream(redis: Redis, stream: str) -> list[Backlog]:
    try:
        groups: Any = await redis.xinfo_groups(stream)
    except ResponseError as error:
        if "no such key" not in str(error):
            raise
        return []
    return [await _of_group(redis, stream, group) for group in groups]


async def _of_group(redis: Redis, stream: str, group: Any) -> Backlog:
    held: Any = await redis.xpending(stream, group["name"])
    given = group["last-delivered-id"].decode()
    unread: Any = await redis.xrange(stream, min=f"({given}", count=1)
    oldest = [entry_id for entry_id in (held["min"], *(entry_id for entry_id, _ in unread)) if entry_id]
    now = time.time()
    return Backlog(
        stream=stream.removeprefix("attractor."),
        service=group["name"].decode(),
        waiting=group["lag"],
        held=held["pending"],
        oldest_seconds=max([0.0, *(now - int(one.partition(b"-")[0]) / 1000 for one in oldest)]),
    )
