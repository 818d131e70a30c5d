"""What changes in the workspace, live."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from httpx2 import EventSource, ServerSentEvent
from pydantic import ValidationError

from attractor_client.errors import StreamInterrupted, UnexpectedAnswer, Unreachable
from attractor_client.http.transport import Transport
from attractor_client.resources.runs import LONGEST_PAUSE_SECONDS, RECONNECTS, SILENCE_SECONDS
from contracts.backoff import backoff
from contracts.workspace_events import WORKSPACE_CHANGES, WorkspaceChange

CHANGES: dict[str, type[WorkspaceChange]] = {kind.name: kind for kind in WORKSPACE_CHANGES}


@dataclass(frozen=True)
class WorkspaceEvent:
    """`id` is for Last-Event-ID; `data` is one of `contracts.workspace_events.WORKSPACE_CHANGES`."""

    id: str
    data: WorkspaceChange


class Events:
    """`client.events`."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def follow(self, last_event_id: str | None = None) -> AsyncIterator[WorkspaceEvent]:
        """Yields what changes from now on, or after `last_event_id`, until the caller stops.

        A connection that ends is resumed after the last event. Raises StreamInterrupted if connecting fails too often.
        Changes that this version does not know are skipped.
        """
        seen, failures = last_event_id, 0
        while True:
            headers = {"Accept": "text/event-stream", **({"Last-Event-ID": seen} if seen else {})}
            try:
                async with self.transport.stream("/v1/events", headers=headers, timeout=SILENCE_SECONDS) as response:
                    failures = 0
                    async for event in EventSource(response, max_event_size=None):
                        seen = event.id or seen
                        if known := _known(event):
                            yield known
            except Unreachable as error:
                failures += 1
                if failures > RECONNECTS:
                    raise StreamInterrupted("The stream of events broke off", type="stream-interrupted") from error
                await asyncio.sleep(backoff(failures, 0.5, LONGEST_PAUSE_SECONDS))


def _known(event: ServerSentEvent) -> WorkspaceEvent | None:
    kind = CHANGES.get(event.event)
    if kind is None:
        return None
    try:
        return WorkspaceEvent(event.id, kind.model_validate_json(event.data))
    except ValidationError as error:
        raise UnexpectedAnswer("Unexpected event", event.event) from error
