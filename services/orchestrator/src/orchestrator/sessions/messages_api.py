"""Routes of messages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Body, Depends, Header, Query, Response, status
from fastapi.responses import StreamingResponse

from contracts.base import Page, ProblemBody
from contracts.orchestrator import HeadUpdate, Message, MessageCreate, MessageRegenerate, Run, Session
from contracts.workspace_settings import RoleModel
from orchestrator.configuration.store import ConfigurationStore
from orchestrator.runs.api import TOO_MANY_QUEUED, MaxAttempts, UsedRuns, UsedStreams
from orchestrator.runs.store import RunStore
from orchestrator.runs.streams import RunStreams
from orchestrator.sessions.api import NOT_FOUND, Opened, Opening
from orchestrator.sessions.messages import CallerMessages, QueuedRun
from service_kit.auth import Principal, Viewer
from service_kit.pagination import Cursor, Limit
from service_kit.request_headers import IdempotencyKey, tagged
from service_kit.routes import Responses, from_state
from service_kit.server_sent import event_stream

router = APIRouter(prefix="/v1", tags=["orchestrator"])
MESSAGES = "/sessions/{session_id}/messages"
MESSAGE = "/messages/{message_id}"
MESSAGE_NOT_FOUND: Responses = {
    404: {
        "model": ProblemBody,
        "description": "The caller has no such session or quick action, or the session has no such message",
    }
}
ANSWERED: Responses = {
    200: {"content": {"text/event-stream": {}}, "description": "With Accept: text/event-stream, the run's events"},
    403: {"model": ProblemBody, "description": "The scope is `global`, but the key reads only one workspace"},
    409: {
        "model": ProblemBody,
        "description": "The Idempotency-Key belongs to another message, or the session is busy (`active_run_ids`)",
    },
    422: {"model": ProblemBody, "description": "The message is not valid, or a provider does not list a model"},
    **MESSAGE_NOT_FOUND,
    **TOO_MANY_QUEUED,
}


@dataclass(frozen=True)
class Answering:
    """Responds to a request that queues a run: with the run, or with its events if the client accepts a stream."""

    caller: Principal
    opened: Opening
    runs: RunStore
    streams: RunStreams
    response: Response
    max_attempts: int
    configuration: ConfigurationStore
    streaming: bool

    @asynccontextmanager
    async def messages(self) -> AsyncIterator[CallerMessages]:
        async with self.opened() as sessions:
            yield CallerMessages(sessions.connection, sessions.caller)

    async def check_models(self, models: Sequence[RoleModel] | None) -> None:
        """Raises ModelNotListed, ProviderUnusable."""
        await self.configuration.check_models(self.caller.workspace_id, models or ())

    async def answer(self, session_id: UUID, queued: QueuedRun) -> Run | StreamingResponse:
        for run_id, attempts in queued.stopped.items():
            await self.streams.publish_cancelled(run_id, attempts)
        run = queued.as_run(session_id) if queued.is_new else await self.runs.get(self.caller, queued.id)
        location = {"Location": f"/v1/runs/{run.id}"}
        if self.streaming:
            return event_stream(self.streams.follow(self.caller, run), location)
        self.response.headers.update(location)
        return run


async def answering_request(
    caller: Viewer,
    opened: Opened,
    runs: UsedRuns,
    streams: UsedStreams,
    response: Response,
    max_attempts: MaxAttempts,
    configuration: Annotated[ConfigurationStore, from_state("configuration")],
    accept: Annotated[str, Header()] = "*/*",
) -> Answering:
    """Raises Unavailable if the client asks for a stream and this process has as many as it may."""
    streaming = "text/event-stream" in accept.lower()
    if streaming:
        streams.admit()
    return Answering(caller, opened, runs, streams, response, max_attempts, configuration, streaming)


AnsweringRequest = Annotated[Answering, Depends(answering_request)]


@router.get(MESSAGES, summary="List a session's messages", responses={**NOT_FOUND})
async def list_messages(
    session_id: UUID,
    opened: Opened,
    tree: Annotated[bool, Query(description="All messages instead of the path to the head")] = False,
    last: Annotated[int | None, Query(ge=1, le=10_000, description="Only the newest messages of the path")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Message]:
    """Lists the path from the first message to the session's head, only its `last` messages, or with `tree` all
    branches.

    The oldest comes first.

    `siblings` are the messages with the same parent: the edits of a question, or several answers to one. An answer
    carries its checked citations. Further pages stay on the path of the first one.
    """
    async with opened() as sessions:
        session = await sessions.find(session_id)
        messages = CallerMessages(sessions.connection, sessions.caller)
        return await (messages.tree(session, limit, cursor) if tree else messages.path(session, limit, cursor, last))


@router.put("/sessions/{session_id}/head", summary="Switch to another branch", responses={**MESSAGE_NOT_FOUND})
async def move_head(session_id: UUID, body: HeadUpdate, opened: Opened, response: Response) -> Session:
    """Makes a message the session's head: the path to it is listed, and the next message follows it."""
    async with opened() as sessions:
        messages = CallerMessages(sessions.connection, sessions.caller)
        return tagged(await messages.move_head(session_id, body), response)


@router.post(MESSAGES, status_code=status.HTTP_202_ACCEPTED, response_model=Run, summary="Ask", responses={**ANSWERED})
async def create_message(
    session_id: UUID, body: MessageCreate, key: IdempotencyKey, answering: AnsweringRequest
) -> Run | StreamingResponse:
    """Stores the message after `parent_id` and queues the run that answers it; `Location` is the run.

    The answer draws on the documents attached to the session, or on the whole workspace if there are none;
    `document_ids` limits it further. With `Accept: text/event-stream` the response is the run's event stream (see GET
    /v1/runs/{id}/events). The same `Idempotency-Key` returns the same run. A message may follow an answer that is still
    being written: its run waits for that answer, and for no other.
    """
    await answering.check_models(body.models)
    async with answering.messages() as messages:
        queued = await messages.ask(session_id, body, key, answering.max_attempts)
    return await answering.answer(session_id, queued)


@router.post(
    f"{MESSAGE}/regenerate",
    status_code=status.HTTP_202_ACCEPTED,
    response_model=Run,
    summary="Answer again",
    responses={**ANSWERED},
)
async def regenerate_message(
    message_id: UUID,
    key: IdempotencyKey,
    answering: AnsweringRequest,
    body: Annotated[MessageRegenerate, Body(default_factory=MessageRegenerate)],
) -> Run | StreamingResponse:
    """Queues another answer to the same question and keeps the existing one; `message_id` names the answer or the
    question.

    The response is as for a new message. The new answer becomes the head.
    """
    await answering.check_models(body.models)
    async with answering.messages() as messages:
        session_id, queued = await messages.regenerate(message_id, body, key, answering.max_attempts)
    return await answering.answer(session_id, queued)


@router.delete(
    MESSAGE, status_code=status.HTTP_204_NO_CONTENT, summary="Delete a message", responses={**MESSAGE_NOT_FOUND}
)
async def delete_message(message_id: UUID, opened: Opened, streams: UsedStreams) -> None:
    """Also deletes everything that follows it, and cancels runs in progress there.

    If the head was among them, the message before it becomes the head.
    """
    async with opened() as sessions:
        run_ids = await CallerMessages(sessions.connection, sessions.caller).delete(message_id)
    await streams.delete(run_ids)
