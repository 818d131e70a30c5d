"""Lists and replays the dead letters of one workspace, or of all."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import ValidationError
from redis.asyncio import Redis

from contracts.events import DOCUMENTS, TURNS, Event
from contracts.gateway import DeadLetter
from service_kit.stream_entries import Fields, as_text, as_texts, parse_id
from service_kit.streams import dead_letters, deliver_again

READ_AT_ONCE = 500
STREAMS = {stream.removeprefix("attractor."): stream for stream in (DOCUMENTS, TURNS)}


@dataclass(frozen=True)
class _KeptLetter:
    """A letter with its position and its fields as stored in the stream."""

    stream: str
    entry_id: str
    fields: dict[str, str]

    @property
    def position(self) -> tuple[int, int, str]:
        return *parse_id(self.entry_id), self.stream

    def shown(self) -> DeadLetter:
        try:
            event = Event.model_validate_json(self.fields["event"])
        except ValidationError:
            event = None
        return DeadLetter(
            id=f"{self.stream}-{self.entry_id}",
            stream=self.stream,
            service=self.fields["group"],
            type=event and event.type,
            subject=event and event.subject,
            workspace_id=event and event.workspace_id,
            reason=self.fields["reason"],
            failed_at=datetime.fromisoformat(self.fields["failed_at"]),
        )


class DeadLetters:
    """All calls raise RedisError. `workspace_id` limits them to one workspace's letters; None means all."""

    def __init__(self, redis: Redis) -> None:
        self.redis = redis

    async def list(self, workspace_id: UUID | None, after: tuple[int, int, str] | None, limit: int) -> list[DeadLetter]:
        """Returns up to `limit` letters after the position, oldest first, as that often explains the others."""
        found = [one for name in STREAMS async for one in self._letters(name, workspace_id, after, limit)]
        return [one.shown() for one in sorted(found, key=lambda one: one.position)[:limit]]

    async def replay(self, workspace_id: UUID | None, ids: Iterable[str]) -> int:
        """Redelivers these letters in order; returns how many existed. Consumers skip events that they have handled."""
        found: list[_KeptLetter] = []
        for letter_id in set(ids):
            name, _, entry_id = letter_id.partition("-")
            entries: Any = await self.redis.xrange(dead_letters(STREAMS[name]), min=entry_id, max=entry_id)
            found += [_kept(name, *entry) for entry in entries]
        letters = sorted((one for one in found if _is_of(one, workspace_id)), key=lambda one: one.position)
        for letter in letters:
            await deliver_again(self.redis, STREAMS[letter.stream], letter.entry_id, letter.fields)
        return len(letters)

    async def _letters(
        self, name: str, workspace_id: UUID | None, after: tuple[int, int, str] | None, limit: int
    ) -> AsyncIterator[_KeptLetter]:
        """Yields up to `limit` of the stream's letters after the position."""
        begin = f"{after[0]}-{after[1]}" if after else "-"
        while True:
            entries: Any = await self.redis.xrange(dead_letters(STREAMS[name]), min=begin, count=READ_AT_ONCE)
            for entry in entries:
                kept = _kept(name, *entry)
                if (after is None or kept.position > after) and _is_of(kept, workspace_id):
                    yield kept
                    limit -= 1
                    if limit == 0:
                        return
            if len(entries) < READ_AT_ONCE:
                return
            begin = f"({as_text(entries[-1][0])}"


def _is_of(letter: _KeptLetter, workspace_id: UUID | None) -> bool:
    return workspace_id is None or letter.shown().workspace_id == workspace_id


def _kept(stream: str, entry_id: bytes | str, fields: Fields) -> _KeptLetter:
    return _KeptLetter(stream, as_text(entry_id), as_texts(fields))
