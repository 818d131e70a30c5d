"""Deletes a workspace's events from streams, where handled events and dead letters still contain names and texts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ValidationError
from redis.asyncio import Redis

ENTRIES_AT_ONCE = 500
KEPT = "workspace."  # the deletion's own events hold only ids and counts, and some consumers may not have read them yet


class _Head(BaseModel):
    type: str
    workspace_id: UUID


async def erase_events(redis: Redis, stream: str, workspace_id: UUID) -> int:
    """Deletes the workspace's entries from the stream, or from its dead letters; returns how many."""
    removed = 0
    async for batch in _entries_of(redis, stream, workspace_id):
        removed += int(await redis.xdel(stream, *batch))
    return removed


async def count_events(redis: Redis, stream: str, workspace_id: UUID) -> int:
    """Counts the workspace's entries in the stream."""
    return sum([len(batch) async for batch in _entries_of(redis, stream, workspace_id)])


async def _entries_of(redis: Redis, stream: str, workspace_id: UUID) -> AsyncIterator[list[bytes]]:
    after = "-"
    while entries := await _read(redis, stream, after):
        found = [entry for entry, fields in entries if _is_of(workspace_id, fields)]
        if found:
            yield found
        last: Any = entries[-1][0]
        after = f"({last.decode() if isinstance(last, bytes) else last}"


async def _read(redis: Redis, stream: str, after: str) -> list[Any]:
    entries: Any = await redis.xrange(stream, min=after, count=ENTRIES_AT_ONCE)
    return list(entries)


def _is_of(workspace_id: UUID, fields: dict[Any, Any]) -> bool:
    try:
        head = _Head.model_validate_json(fields.get(b"event", fields.get("event", b"")))
    except ValidationError:  # a dead letter that is not an event
        return False
    return head.workspace_id == workspace_id and not head.type.startswith(KEPT)
