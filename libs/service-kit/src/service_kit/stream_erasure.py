"""Deletes events from streams, where handled events and dead letters still contain names and texts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ValidationError
from redis.asyncio import Redis

from service_kit.stream_entries import as_text, event_json

ENTRIES_AT_ONCE = 500
KEPT = "workspace."  # the deletion's own events hold only ids and counts, and some consumers may not have read them yet


class _Head(BaseModel):
    type: str
    workspace_id: UUID


async def erase_events(redis: Redis, stream: str, workspace_id: UUID) -> int:
    """Deletes the workspace's entries from the stream, or from its dead letters; returns how many."""
    removed = 0
    async for batch in entries_where(redis, stream, partial(_is_of, workspace_id)):
        removed += int(await redis.xdel(stream, *batch))
    return removed


async def count_events(redis: Redis, stream: str, workspace_id: UUID) -> int:
    """Counts the workspace's entries in the stream."""
    return sum([len(batch) async for batch in entries_where(redis, stream, partial(_is_of, workspace_id))])


async def entries_where(
    redis: Redis, stream: str, belongs: Callable[[bytes | str], bool]
) -> AsyncIterator[list[bytes]]:
    """Yields the ids of entries whose event (its JSON) belongs, in batches that may be deleted meanwhile."""
    after = "-"
    while entries := await _read(redis, stream, after):
        found = [entry for entry, fields in entries if belongs(event_json(fields))]
        if found:
            yield found
        after = f"({as_text(entries[-1][0])}"


async def _read(redis: Redis, stream: str, after: str) -> list[Any]:
    entries: Any = await redis.xrange(stream, min=after, count=ENTRIES_AT_ONCE)
    return list(entries)


def _is_of(workspace_id: UUID, event: bytes | str) -> bool:
    try:
        head = _Head.model_validate_json(event)
    except ValidationError:  # a dead letter that is not an event
        return False
    return head.workspace_id == workspace_id and not head.type.startswith(KEPT)
