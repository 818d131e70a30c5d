"""Routes of responses: each is a run, which can be followed, resumed, stopped and deleted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import StreamingResponse

from contracts.openai_responses import DeletedResponse, ResponseId, ResponseObject, ResponseRequest
from orchestrator.errors import RunNotFound
from orchestrator.openai_api.api import UsedModels, UsedOpenAIRuns, UsedPresets, base_url, chosen_preset, refused
from orchestrator.openai_api.asking import Followed, OpenAIRuns
from orchestrator.openai_api.errors import ResponseNotFound, Unsupported
from orchestrator.openai_api.preset_choice import with_preset
from orchestrator.openai_api.response_events import TERMINAL, ResponseEvents
from orchestrator.openai_api.response_objects import ResponseRun, as_it_is, begun, run_id_of
from orchestrator.openai_api.response_request import response_question
from orchestrator.runs.api import UsedStreams
from orchestrator.runs.streams import TERMINAL_EVENTS
from service_kit.auth import Principal, Viewer
from service_kit.disconnects import unless_left
from service_kit.routes import Responses
from service_kit.server_sent import event_stream

router = APIRouter(prefix="/v1/responses", tags=["orchestrator"])
RESPONSE = "/{response_id}"
Named = Annotated[ResponseId, Path()]
STREAMED: Responses = {
    200: {"content": {"text/event-stream": {}}, "description": "The response; with `stream`, its events"}
}
NOT_FOUND = refused((404, "The caller has no such response"))
BUSY = refused((503, "Too many streams are open"))


@router.post(
    "",
    response_model=ResponseObject,
    summary="Create a response as the OpenAI API does",
    responses={
        **STREAMED,
        **refused((404, "The caller has no such response or session, or there is no such model")),
        **BUSY,
    },
)
async def create_response(
    body: ResponseRequest,
    request: Request,
    caller: Viewer,
    ask: UsedOpenAIRuns,
    choice: UsedModels,
    presets: UsedPresets,
    streams: UsedStreams,
) -> ResponseObject | StreamingResponse:
    """Answers the last message of `input` from the documents, with `file_citation` and `url_citation` annotations.

    A response is a run. `previous_response_id` lets it follow another response, on a branch beside any that already
    follow it. It is not listed, and is kept until a day after its last use; with `metadata.session_id` it is asked in
    that session and stays there, with `store: false` nothing is stored. With `background` it continues after the
    connection closes, and its events can be followed with `GET`; otherwise closing the connection stops it. The text of
    `response.output_text.done` replaces that of the deltas. An answer that ends early is `incomplete`.
    `metadata.rag_scope` says where to search, like a message's `rag_scope`.
    """
    followed = await _followed(ask, caller, body)
    preset = await chosen_preset(presets, caller, body.model)
    question = with_preset(response_question(body, choice, followed), preset)
    is_background = bool(body.background)
    if body.stream or not is_background:
        streams.admit()
    response_run = ResponseRun(await ask.ask(caller, question), question.options)
    events = ResponseEvents(response_run, base_url(request))
    if body.stream:
        return event_stream(_events(ask, caller, events, lasting=is_background))
    if is_background:
        return begun(response_run)
    return await unless_left(request, _whole(ask, caller, events))


@router.get(
    RESPONSE,
    response_model=ResponseObject,
    summary="Read a response, or follow it",
    responses={**STREAMED, **NOT_FOUND, **BUSY},
)
async def get_response(
    response_id: Named,
    request: Request,
    caller: Viewer,
    ask: UsedOpenAIRuns,
    streams: UsedStreams,
    stream: Annotated[bool, Query(description="Stream its events instead, until it ends")] = False,
    starting_after: Annotated[
        int | None, Query(ge=0, le=2**31 - 1, description="Only the events with a higher `sequence_number`")
    ] = None,
) -> ResponseObject | StreamingResponse:
    """Returns the response; `stream` sends its earlier events again, with the same numbers, and new ones as they occur.

    Once the run's stream has expired, the text comes as one delta. Closing this connection stops nothing.
    """
    response_run = await _found(ask, caller, response_id)
    if not stream:
        return as_it_is(response_run, base_url(request))
    streams.admit()
    events = ResponseEvents(response_run, base_url(request), -1 if starting_after is None else starting_after)
    return event_stream(_events(ask, caller, events, lasting=True))


@router.post(f"{RESPONSE}/cancel", summary="Stop a response", responses=NOT_FOUND)
async def cancel_response(response_id: Named, request: Request, caller: Viewer, ask: UsedOpenAIRuns) -> ResponseObject:
    """What was written stays. A waiting response ends at once, a running one within moments."""
    response_run = await _found(ask, caller, response_id)
    await ask.streams.cancel(caller, response_run.run.id)
    return as_it_is(await _found(ask, caller, response_id), base_url(request))


@router.delete(RESPONSE, summary="Delete a response", responses=NOT_FOUND)
async def delete_response(response_id: Named, caller: Viewer, ask: UsedOpenAIRuns) -> DeletedResponse:
    """Deletes its question, its answer, and the responses that follow it; one in progress is stopped."""
    response_run = await _found(ask, caller, response_id)
    await ask.delete(caller, response_run.run)
    return DeletedResponse(id=response_run.id)


async def _followed(ask: OpenAIRuns, caller: Principal, body: ResponseRequest) -> Followed | None:
    """Raises ResponseNotFound, and Unsupported if that response has not ended."""
    if body.previous_response_id is None:
        return None
    name = "previous_response_id"
    run = (await _found(ask, caller, body.previous_response_id, name)).run
    if not run.status.ended or run.answer_id is None:
        raise Unsupported(name, "that response has not ended")
    return Followed(run.session_id, run.answer_id)


async def _found(ask: OpenAIRuns, caller: Principal, response: str, param: str | None = None) -> ResponseRun:
    """Raises ResponseNotFound."""
    try:
        return ResponseRun(*await ask.find(caller, run_id_of(response)))
    except RunNotFound:
        raise ResponseNotFound(param) from None


async def _events(ask: OpenAIRuns, caller: Principal, events: ResponseEvents, *, lasting: bool) -> AsyncIterator[bytes]:
    """Yields the response's events. Unless it is `lasting`, a client that disconnects before the end stops the run."""
    over = False
    try:
        yield events.opening()
        async with aclosing(ask.streams.entries(caller, events.response_run.run)) as entries:
            async for entry in entries:
                if entry is not None and entry[1] in TERMINAL_EVENTS:
                    over = True
                    yield events.terminal(await _ended(ask, caller, events))
                elif event := events.of(entry):
                    yield event
    finally:
        _leave(ask, caller, events, stopping=not (over or lasting))


async def _whole(ask: OpenAIRuns, caller: Principal, events: ResponseEvents) -> ResponseObject:
    over = False
    try:
        events.opening()
        async with aclosing(ask.streams.entries(caller, events.response_run.run)) as entries:
            async for entry in entries:
                if entry is not None and entry[1] in TERMINAL_EVENTS:
                    over = True
                    return await _ended(ask, caller, events)
                events.of(entry)
        raise AssertionError("a run's events end with its terminal one")
    finally:
        _leave(ask, caller, events, stopping=not over)


async def _ended(ask: OpenAIRuns, caller: Principal, events: ResponseEvents) -> ResponseObject:
    """Returns the complete response; one that was deleted meanwhile is cancelled."""
    try:
        response = as_it_is(await _found(ask, caller, events.response_run.id), events.base_url, events.thought)
    except ResponseNotFound:
        return begun(events.response_run).model_copy(update={"status": "cancelled"})
    assert response.status in TERMINAL
    return response


def _leave(ask: OpenAIRuns, caller: Principal, events: ResponseEvents, *, stopping: bool) -> None:
    forgetting = events.response_run.options.get("forgotten", False)
    if stopping or forgetting:
        ask.leave(caller, events.response_run.run, stopping=stopping, forgetting=forgetting)
