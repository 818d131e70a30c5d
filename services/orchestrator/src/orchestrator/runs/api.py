"""Routes of runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Header, Request, Response, status
from fastapi.responses import StreamingResponse

from contracts.base import ProblemBody
from contracts.events import RunCancelled
from contracts.orchestrator import Run, RunStatus
from orchestrator.runs.store import RunStore
from orchestrator.runs.streams import RunStreams, parse_event_id
from service_kit.auth import Viewer

router = APIRouter(prefix="/v1/runs", tags=["orchestrator"])
NOT_FOUND: dict[int | str, dict[str, Any]] = {
    404: {"model": ProblemBody, "description": "No such run of this user in this workspace"}
}


def run_store(request: Request) -> RunStore:
    store: RunStore = request.app.state.runs
    return store


def run_streams(request: Request) -> RunStreams:
    streams: RunStreams = request.app.state.streams
    return streams


Runs = Annotated[RunStore, Depends(run_store)]
Streams = Annotated[RunStreams, Depends(run_streams)]


def event_stream(events: AsyncIterator[bytes], headers: dict[str, str] | None = None) -> StreamingResponse:
    """Server-sent events that no proxy on the way keeps or gathers."""
    return StreamingResponse(
        events,
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no", **(headers or {})},
    )


@router.get("/{run_id}", summary="Read a run", responses={**NOT_FOUND})
async def get_run(run_id: UUID, caller: Viewer, runs: Runs) -> Run:
    """With the answer once it is completed."""
    return await runs.get(caller, run_id)


@router.get(
    "/{run_id}/events",
    summary="Follow a run",
    response_class=StreamingResponse,
    responses={
        200: {"content": {"text/event-stream": {}}, "description": "The run's events, to its terminal event"},
        204: {"description": "The run has ended and Last-Event-ID is its terminal event: there is nothing left"},
        **NOT_FOUND,
    },
)
async def run_events(
    run_id: UUID,
    caller: Viewer,
    runs: Runs,
    streams: Streams,
    last_event_id: Annotated[str | None, Header(max_length=100)] = None,
) -> Response:
    """Server-sent events from the beginning, or after `Last-Event-ID`, and then as they come.

    The last one is `run_completed`, `run_failed` or `run_cancelled`. `run_completed` carries the whole answer, which
    replaces what the deltas made of it. Long after the end only the terminal event is given.
    """
    after = parse_event_id(last_event_id)
    run = await runs.get(caller, run_id)
    if await streams.nothing_left(run, after):
        return Response(status_code=status.HTTP_204_NO_CONTENT)
    streams.admit()
    return event_stream(streams.follow(caller, run, after))


@router.post("/{run_id}/cancel", summary="Cancel a run", responses={**NOT_FOUND})
async def cancel_run(run_id: UUID, caller: Viewer, runs: Runs, streams: Streams) -> Run:
    """A waiting run ends at once, one that is under way is stopped by its process soon. An ended run stays as it is."""
    outcome = await runs.cancel(caller, run_id)
    if outcome is not None and outcome.status is RunStatus.cancelled:
        await streams.tell(run_id, outcome.attempts, RunCancelled(run_id=run_id))
    return await runs.get(caller, run_id)
