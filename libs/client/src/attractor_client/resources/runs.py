"""Runs: state, live events, cancellation and retry."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from http import HTTPStatus
from uuid import UUID

from httpx2 import EventSource, ServerSentEvent
from pydantic import ValidationError

from attractor_client.errors import StreamInterrupted, UnexpectedAnswer, Unreachable
from attractor_client.http.pages import every
from attractor_client.http.transport import Parameters, Transport, path
from contracts.backoff import backoff
from contracts.base import Page
from contracts.orchestrator import Run, RunStatus
from contracts.run_events import RUN_EVENTS, RunEventData

KINDS: dict[str, type[RunEventData]] = {kind.name: kind for kind in RUN_EVENTS}
# The server sends a comment at least every 15 s: a longer silence than this means a dead connection.
SILENCE_SECONDS = 60.0
RECONNECTS = 5
LONGEST_PAUSE_SECONDS = 5.0


@dataclass(frozen=True)
class RunEvent:
    """An event of a run. `id` is for Last-Event-ID; `data` is one of `contracts.run_events.RUN_EVENTS`."""

    id: str
    data: RunEventData


class _NothingLeft(Exception):
    """The run has ended, and its terminal event was the last one seen."""


class Runs:
    """`client.runs`."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def get(self, run_id: UUID, *, debug: bool = False) -> Run:
        """Returns the run, with its answer once completed; `debug` adds how it was routed and how its search went."""
        return await self.transport.get(path("v1/runs", run_id), Run, {"debug": True} if debug else {})

    def all(self, session_id: UUID | None = None, statuses: Sequence[RunStatus] = ()) -> AsyncIterator[Run]:
        """Lists the user's runs without their answers, newest first."""
        wanted: Parameters = {"session_id": session_id and str(session_id), "status": [one.value for one in statuses]}
        return every(self.transport, "/v1/runs", Page[Run], wanted)

    async def cancel(self, run_id: UUID) -> Run:
        """Asks the run to stop; a run that has ended stays as it is."""
        return await self.transport.fetch("POST", path("v1/runs", run_id, "cancel"), Run, repeatable=True)

    async def retry(self, run_id: UUID) -> Run:
        """Queues a failed run again; it resumes where it failed."""
        return await self.transport.fetch("POST", path("v1/runs", run_id, "retry"), Run)

    async def events(self, run_id: UUID, last_event_id: str | None = None) -> AsyncIterator[RunEvent]:
        """Yields the run's events from its beginning, or after `last_event_id`, up to its terminal one.

        A broken connection is resumed after the last event, so no event is missed or repeated. Raises StreamInterrupted
        if reconnecting fails too often. Events that this version does not know are skipped.
        """
        seen, failures, pause = last_event_id, 0, 0.5
        while True:
            try:
                async with aclosing(self._connection(run_id, seen)) as connection:
                    async for event in connection:
                        failures = 0
                        seen = event.id or seen
                        pause = pause if event.retry is None else event.retry / 1000
                        if known := _known(event):
                            yield known
                            if known.data.terminal:
                                return
            except _NothingLeft:
                return
            except Unreachable as error:
                cause: Unreachable | None = error
            else:
                cause = None  # the server closed the stream early, as it does when it shuts down
            failures += 1
            if failures > RECONNECTS:
                title = "The stream of the run's events broke off"
                raise StreamInterrupted(title, f"run {run_id}", type="stream-interrupted") from cause
            await asyncio.sleep(backoff(failures, pause, LONGEST_PAUSE_SECONDS))

    async def _connection(self, run_id: UUID, after: str | None) -> AsyncGenerator[ServerSentEvent, None]:
        headers = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
        if after:
            headers["Last-Event-ID"] = after
        place = path("v1/runs", run_id, "events")
        async with self.transport.stream(place, headers=headers, timeout=SILENCE_SECONDS) as response:
            if response.status_code == HTTPStatus.NO_CONTENT:
                raise _NothingLeft
            if not response.headers.get("content-type", "").startswith("text/event-stream"):
                raise UnexpectedAnswer("The server did not send an event stream")
            async for event in EventSource(response, max_event_size=None):
                yield event


def _known(event: ServerSentEvent) -> RunEvent | None:
    kind = KINDS.get(event.event)
    if kind is None:
        return None
    try:
        return RunEvent(event.id, kind.model_validate_json(event.data))
    except ValidationError as error:
        raise UnexpectedAnswer("Unexpected event", event.event) from error
