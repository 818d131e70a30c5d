"""What the consumer groups of a stream still need: how far each is behind, and trimming what all have handled."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from service_kit.stream_entries import as_text, format_id, parse_id, written_at

KEPT, MOST_BYTES = timedelta(days=7), 32 * 2**20  # of entries that all groups of a stream have handled
SAMPLES = 50  # nodes of a stream from which Redis estimates its size


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
    return [await _backlog(redis, stream, one) for one in groups if group in (None, as_text(one["name"]))]


async def _backlog(redis: Redis, stream: str, group: Any) -> GroupBacklog:
    held: Any = await redis.xpending(stream, group["name"])
    since = written_at(held["min"]) if held["min"] else None
    return GroupBacklog(
        as_text(group["name"]), group["lag"], held["pending"], as_text(group["last-delivered-id"]), since
    )


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
        needed.append(parse_id(pending["min"] or group["last-delivered-id"]))
    kept = (int((datetime.now(UTC) - older_than).timestamp() * 1000), 0)
    dropped = int(await redis.xtrim(stream, minid=format_id(min(kept, *needed)), approximate=False))
    size = await redis.memory_usage(stream, samples=SAMPLES) or 0
    if size > most_bytes:
        length = await redis.xlen(stream)
        excess = length - int(length * most_bytes / size)
        dropped += int(await redis.xtrim(stream, minid=format_id(min(needed)), approximate=True, limit=excess))
    return dropped
