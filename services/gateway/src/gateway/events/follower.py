"""Follows what changes in a workspace for one reader, who sees only what concerns the reader's workspace and role."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from typing import Any

from redis.exceptions import RedisError

from contracts.workspace_events import ChangesMissed
from gateway.accounts.caller import Authenticated
from gateway.errors import ForeignEventId
from gateway.events.entries import STREAMS, Positions, event_id, sent, telling
from gateway.events.feed import READ_AT_ONCE, Feed
from service_kit.problems import Unavailable
from service_kit.server_sent import HEARTBEAT, formatted
from service_kit.stream_entries import EntryId, format_id, parse_id

log = logging.getLogger(__name__)
_ID = re.compile(r"\d{1,20}-\d{1,20}(\.\d{1,20}-\d{1,20}){3}", re.ASCII)


class WorkspaceEvents:
    """Opens streams of events. Each begins with what came before the feed, then takes what the feed passes on.

    A stream ends after `longest_seconds`, and its reader connects again with Last-Event-ID: so a revoked key or a lost
    membership ends it.
    """

    def __init__(self, feed: Feed, *, heartbeat_seconds: float, longest_seconds: float) -> None:
        self.feed = feed
        self.heartbeat_seconds, self.longest_seconds = heartbeat_seconds, longest_seconds

    async def open(self, reader: Authenticated, last_event_id: str | None) -> AsyncIterator[bytes]:
        """Returns the reader's events from now on, or after the id. Raises ForeignEventId and Unavailable."""
        if last_event_id and not _ID.fullmatch(last_event_id):
            raise ForeignEventId
        try:
            states = {stream: await self.feed.state(stream) for stream in STREAMS}
        except (RedisError, OSError) as error:
            raise Unavailable("Redis, which holds the events, does not answer") from error
        await self.feed.started()
        newest = {stream: state.newest for stream, state in states.items()}
        if not last_event_id:
            return self._follow(reader, newest, missed=False)
        after = dict(zip(STREAMS, map(parse_id, last_event_id.split(".")), strict=True))
        missed = any(state.lacks(after[stream]) for stream, state in states.items())
        return self._follow(reader, newest if missed else after, missed=missed)

    async def _follow(self, reader: Authenticated, after: dict[str, EntryId], *, missed: bool) -> AsyncIterator[bytes]:
        """Yields the id to begin after first, so that a reader who has seen nothing yet can resume, too."""
        begin = event_id(after)
        yield formatted(begin, ChangesMissed.name, sent(ChangesMissed())) if missed else f"id: {begin}\n\n".encode()
        clock = asyncio.get_running_loop().time
        end = clock() + self.longest_seconds
        with self.feed.subscribed(reader.workspace.id) as subscription:
            try:
                async for told in self._earlier(reader, after, subscription.begins):
                    yield told
            except (RedisError, OSError) as error:  # the reader connects again, and is told if Redis is away
                log.warning("could not read the streams", exc_info=error)
                return
            while clock() < end:
                taken = await subscription.taken(self.heartbeat_seconds)
                if subscription.has_ended:
                    return
                told = b""
                for entry in taken:
                    if entry.id <= after[entry.stream]:  # the reader's last connection was ahead of this feed
                        continue
                    after = {stream: max(after[stream], entry.positions[stream]) for stream in STREAMS}
                    if entry.concerns(reader):
                        told += entry.told(after)
                yield told or HEARTBEAT

    async def _earlier(
        self, reader: Authenticated, after: dict[str, EntryId], until: Positions
    ) -> AsyncIterator[bytes]:
        """Yields what came up to the positions, and moves `after` there."""
        own = str(reader.workspace.id).encode()
        for stream in STREAMS:
            while after[stream] < until[stream]:
                batch: Any = await self.feed.redis.xrange(
                    stream, f"({format_id(after[stream])}", format_id(until[stream]), count=READ_AT_ONCE
                )
                for entry_id, fields in batch:
                    after[stream] = parse_id(entry_id)
                    if own not in fields.get(b"event", b""):  # most are of others, and need not be parsed
                        continue
                    entry = telling(self.feed.signatures, dict(after), stream, fields)
                    if entry and entry.concerns(reader):
                        yield entry.told(after)
                if not batch:
                    after[stream] = until[stream]
