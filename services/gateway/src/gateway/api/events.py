"""The route of a workspace's events."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header
from fastapi.responses import StreamingResponse

from contracts.base import ProblemBody
from gateway.access.authenticator import Admitted
from gateway.events.follower import WorkspaceEvents
from service_kit.routes import Responses, from_state
from service_kit.server_sent import event_stream

router = APIRouter(prefix="/v1", tags=["gateway"])
ANSWERS: Responses = {
    200: {"content": {"text/event-stream": {}}, "description": "The workspace's events"},
    400: {"model": ProblemBody, "description": "Last-Event-ID was not issued by this stream"},
    503: {"model": ProblemBody, "description": "Redis does not answer"},
}


@router.get(
    "/events", summary="Follow what changes in the workspace", response_class=StreamingResponse, responses=ANSWERS
)
async def follow_workspace(
    caller: Admitted,
    events: Annotated[WorkspaceEvents, from_state("workspace_events")],
    last_event_id: Annotated[str | None, Header(max_length=200)] = None,
) -> StreamingResponse:
    """Sends changes of documents, synchronisations, runs and artifacts as they occur, or those after `Last-Event-ID`.

    They have ids and states, but no content: read what you show. Runs and artifacts are sent to their own user only,
    dead letters to owners. `missed` says that some are no longer kept. The stream ends after some minutes, and is
    resumed with `Last-Event-ID`.
    """
    return event_stream(await events.open(caller, last_event_id))
