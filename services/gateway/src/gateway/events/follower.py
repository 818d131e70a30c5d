"""Follows the services' streams for one reader, who sees only what concerns the reader's workspace and role."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from contracts.events import DOCUMENTS, TURNS, Event, EventRefused, event_data
from contracts.gateway import Role
from contracts.workspace_events import ChangesMissed, WorkspaceChange
from gateway.accounts.caller import Authenticated
from gateway.errors import ForeignEventId
from gateway.events.changes import change_of, dead_letter
from service_kit.event_signatures import EventSignatures
from service_kit.problems import Unavailable
from service_kit.server_sent import HEARTBEAT, formatted
from service_kit.streams import dead_letters

log = logging.getLogger(__name__)
STREAMS = (DOCUMENTS, TURNS, dead_letters(DOCUMENTS), dead_letters(TURNS))
READ_AT_ONCE = 200
_ID = re.compile(r"\d{1,20}-\d{1,20}(\.\d{1,20}-\d{1,20}){3}", re.ASCII)
Positions = dict[str, str]


@dataclass(frozen=True)
class _StreamState:
    """What a stream has: the ids of the newest entry ever written, and of the oldest one that is still there.

    `whole`: it has every entry that was ever written.
    """

    newest: str
    oldest: str
    whole: bool

    def lacks(self, after: str) -> bool:
        """Returns whether entries after the id may be gone."""
        return not self.whole and _key(after) < _key(self.oldest)


class WorkspaceEvents:
    """Opens streams of events. Each reads Redis on a connection of its own, which blocks until there is something.

    A stream ends after `longest_seconds`, and its reader connects again with Last-Event-ID: so a revoked key or a lost
    membership ends it.
    """

    def __init__(
        self, redis: Redis, signatures: EventSignatures, *, heartbeat_seconds: float, longest_seconds: float
    ) -> None:
        """`redis` must allow reads that last longer than a heartbeat."""
        self.redis, self.signatures = redis, signatures
        self.heartbeat_seconds, self.longest_seconds = heartbeat_seconds, longest_seconds

    async def open(self, reader: Authenticated, last_event_id: str | None) -> AsyncIterator[bytes]:
        """Returns the reader's events from now on, or after the id. Raises ForeignEventId and Unavailable."""
        if last_event_id and not _ID.fullmatch(last_event_id):
            raise ForeignEventId
        after = dict(zip(STREAMS, last_event_id.split("."), strict=True)) if last_event_id else None
        try:
            states = [await self._state(stream) for stream in STREAMS]
        except (RedisError, OSError) as error:
            raise Unavailable("Redis, which holds the events, does not answer") from error
        missed = after is not None and any(
            state.lacks(after[stream]) for stream, state in zip(STREAMS, states, strict=True)
        )
        if after is None or missed:
            after = {stream: state.newest for stream, state in zip(STREAMS, states, strict=True)}
        return self._follow(reader, after, missed=missed)

    async def _follow(self, reader: Authenticated, after: Positions, *, missed: bool) -> AsyncIterator[bytes]:
        """Yields the id to begin after first, so that a reader who has seen nothing yet can resume, too."""
        missing = ChangesMissed()
        yield _told(after, missing) if missed else f"id: {_event_id(after)}\n\n".encode()
        clock = asyncio.get_running_loop().time
        end = clock() + self.longest_seconds
        while clock() < end:
            try:
                batches = await self._read(after)
            except (RedisError, OSError) as error:  # the reader connects again, and is told if Redis is away
                log.warning("could not read the streams", exc_info=error)
                return
            told = b""
            for stream, entry_id, fields in batches:
                after[stream] = entry_id
                change = self._change(reader, stream, entry_id, fields)
                if change is not None:
                    told += _told(after, change)
            if told or not batches:
                yield told or HEARTBEAT

    async def _read(self, after: Positions) -> list[tuple[str, str, Mapping[bytes, bytes]]]:
        """Returns the next entries of all streams; none if none comes within a heartbeat."""
        block = int(1000 * self.heartbeat_seconds)
        positions: dict[Any, Any] = {**after}
        answer: Any = await self.redis.xread(positions, count=READ_AT_ONCE, block=block)
        return [
            (name.decode(), entry_id.decode(), fields)
            for name, batch in (answer.items() if isinstance(answer, dict) else answer or [])
            for part in batch
            for entry_id, fields in (part if isinstance(part, list) else [part])  # RESP3 has a list of lists
        ]

    def _change(
        self, reader: Authenticated, stream: str, entry_id: str, fields: Mapping[bytes, bytes]
    ) -> WorkspaceChange | None:
        """Returns what an entry says to this reader; None if nothing."""
        encoded = fields.get(b"event", b"")
        if str(reader.workspace.id).encode() not in encoded:  # most are of others, and need not be parsed
            return None
        try:
            event = Event.model_validate_json(encoded)
        except ValidationError:  # consumers have made a dead letter of it
            return None
        if event.workspace_id != reader.workspace.id:
            return None
        if b"group" in fields:
            return dead_letter(event, fields[b"group"].decode()) if reader.role is Role.owner else None
        texts = {key.decode(): value.decode() for key, value in fields.items()}
        if not self.signatures.proves(stream, entry_id, texts, event.source):
            return None
        try:
            addressed = change_of(event_data(event))
        except EventRefused:  # as consumers do
            return None
        return addressed.change if addressed and addressed.only in {None, reader.user.id} else None

    async def _state(self, stream: str) -> _StreamState:
        try:
            found: Any = await self.redis.xinfo_stream(stream)
        except ResponseError as error:
            if "no such key" not in str(error):
                raise
            return _StreamState("0-0", "0-0", whole=True)
        newest = found["last-generated-id"].decode()
        oldest = found["first-entry"][0].decode() if found["first-entry"] else newest
        return _StreamState(newest, oldest, whole=found["entries-added"] == found["length"])


def _event_id(after: Positions) -> str:
    return ".".join(after[stream] for stream in STREAMS)


def _told(after: Positions, change: WorkspaceChange) -> bytes:
    return formatted(_event_id(after), change.name, change.model_dump_json(exclude_none=True))


def _key(entry_id: str) -> tuple[int, int]:
    milliseconds, _, sequence = entry_id.partition("-")
    return int(milliseconds), int(sequence)
