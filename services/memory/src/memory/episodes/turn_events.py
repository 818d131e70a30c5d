"""Deletes forgotten turns from their stream and its dead letters, where handled events stay for some days."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from pydantic import ValidationError
from redis.asyncio import Redis
from redis.exceptions import RedisError

from contracts.events import TURNS, Event, TurnCompleted, TurnCompletedV1
from contracts.registry import MEMORY
from memory.episodes.turns import turn_of
from service_kit.stream_erasure import entries_where
from service_kit.stream_groups import backlogs
from service_kit.streams import dead_letters

log = logging.getLogger(__name__)
STREAMS = (TURNS, dead_letters(TURNS))
TOLD_IN = (TurnCompleted.event_type, TurnCompletedV1.event_type)


@dataclass(frozen=True)
class ErasedEvents:
    """How many events were deleted (in a preview: would be), and how many are left at most."""

    removed: int = 0
    remaining: int = 0


class TurnEvents:
    """The events of turns that memory has handled; it is their only reader."""

    def __init__(self, redis: Redis) -> None:
        self.redis = redis

    async def erase(self, workspace_id: UUID, ids: Collection[UUID], *, keep: bool = False) -> ErasedEvents:
        """Deletes the turns that contain these messages or belong to these sessions; with `keep` it only counts them.

        If Redis refuses or is unreachable, up to one per id may remain; they are trimmed like all handled events.
        """
        removed = 0
        try:
            given = [_place(group.last_given) for group in await backlogs(self.redis, TURNS, MEMORY)] if ids else []
            for stream in STREAMS if given else ():
                async for batch in entries_where(self.redis, stream, lambda text: _tells(text, workspace_id, ids)):
                    # One that is still to be read would be missing in the count of those that wait.
                    read = [entry for entry in batch if stream != TURNS or _place(entry) <= given[0]]
                    if read:
                        removed += len(read) if keep else int(await self.redis.xdel(stream, *read))
        except RedisError as error:
            log.warning("turns not deleted from their stream", exc_info=error, extra={"messages": len(ids)})
            return ErasedEvents(removed, len(ids))
        return ErasedEvents(removed)


def _place(entry: bytes | str) -> tuple[int, ...]:
    """Returns what entries of a stream are ordered by."""
    return tuple(map(int, (entry.decode() if isinstance(entry, bytes) else entry).split("-")))


def _tells(text: bytes | str, workspace_id: UUID, ids: Collection[UUID]) -> bool:
    """Returns whether the event is a turn of the workspace with one of the ids."""
    try:
        event = Event.model_validate_json(text)
        if event.workspace_id != workspace_id or event.type not in TOLD_IN:
            return False
        turn = turn_of(event)
    except ValidationError:  # a dead letter that is not an event
        return False
    return not {turn.question_id, turn.answer_id, turn.session_id}.isdisjoint(ids)
