"""Routes of chat completions and models."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import StreamingResponse

from contracts.openai_api import ChatCompletion, ChatCompletionRequest, ModelCard, ModelList, ModelName
from contracts.openai_errors import OpenAIError
from contracts.orchestrator import Run
from contracts.workspace_settings import Preset
from orchestrator.configuration.presets import PresetStore
from orchestrator.errors import PresetNotFound
from orchestrator.models.model_source import ModelSource
from orchestrator.openai_api.asking import OpenAIRuns
from orchestrator.openai_api.chat_chunks import ChatChunks, Completing
from orchestrator.openai_api.chat_request import question_of, wants_footnotes
from orchestrator.openai_api.chat_whole import WholeAnswer
from orchestrator.openai_api.errors import AnswerFailed, UnknownOpenAIModel
from orchestrator.openai_api.models import Models, preset_card, preset_name
from orchestrator.openai_api.preset_choice import with_preset
from orchestrator.runs.api import UsedStreams
from orchestrator.runs.streams import BEGINNING
from service_kit.auth import Principal, Viewer
from service_kit.disconnects import unless_left
from service_kit.routes import Responses, from_state
from service_kit.server_sent import event_stream

router = APIRouter(prefix="/v1", tags=["orchestrator"])


def refused(*statuses: tuple[int, str]) -> Responses:
    """Returns the OpenAPI description of these errors."""
    return {status: {"model": OpenAIError, "description": description} for status, description in statuses}


COMPLETED: Responses = {
    200: {"content": {"text/event-stream": {}}, "description": "The completion; with `stream`, its chunks"},
    **refused(
        (404, "There is no such model, or the caller has no such session"),
        (429, "A budget of tokens is used up; the message says until when"),
        (500, "The answer could not be written; `run_id` names its run"),
        (503, "Too many streams are open"),
    ),
}


UsedOpenAIRuns = Annotated[OpenAIRuns, from_state("asking")]
UsedModels = Annotated[Models, from_state("models")]
UsedPresets = Annotated[PresetStore, from_state("presets")]
UsedModelSource = Annotated[ModelSource, from_state("model_source")]


async def chosen_preset(presets: PresetStore, caller: Principal, model: str) -> Preset | None:
    """Returns the preset that a model names, None for another model. Raises UnknownOpenAIModel."""
    name = preset_name(model)
    try:
        return None if name is None else await presets.find(caller, name)
    except PresetNotFound:
        raise UnknownOpenAIModel from None


@router.get("/models", summary="List the models of the OpenAI API", responses=refused())
async def list_models(caller: Viewer, choice: UsedModels, presets: UsedPresets, source: UsedModelSource) -> ModelList:
    """`attractor` answers from the documents; `attractor-plain`, if a chat model is configured, without them.

    `attractor/NAME` is a preset of the caller or the workspace.
    """
    named = {preset.name: preset for preset in reversed(await presets.all(caller))}
    made: list[tuple[ModelCard, Preset | None]] = [(preset_card(named[name]), named[name]) for name in sorted(named)]
    return ModelList(data=await _with_breakers(source, caller, [*((card, None) for card in choice.all()), *made]))


@router.get("/models/{model:path}", summary="Read a model of the OpenAI API", responses=refused((404, "No such model")))
async def get_model(
    model: Annotated[ModelName, Path()],
    caller: Viewer,
    choice: UsedModels,
    presets: UsedPresets,
    source: UsedModelSource,
) -> ModelCard:
    """A name that clients can use as `model`."""
    preset = await chosen_preset(presets, caller, model)
    card = choice.find(model) if preset is None else preset_card(preset)
    (shown_entry,) = await _with_breakers(source, caller, [(card, preset)])
    return shown_entry


async def _with_breakers(
    source: ModelSource, caller: Principal, cards: Sequence[tuple[ModelCard, Preset | None]]
) -> list[ModelCard]:
    chosen = [preset.roles.get("answer", []) if preset else [] for _, preset in cards]
    states = await source.breakers(caller.workspace_id, caller.user_id, chosen)
    return [card.model_copy(update={"breaker": state}) for (card, _), state in zip(cards, states, strict=True)]


@router.post(
    "/chat/completions", response_model=ChatCompletion, summary="Answer as the OpenAI API does", responses=COMPLETED
)
async def create_chat_completion(
    body: ChatCompletionRequest,
    request: Request,
    caller: Viewer,
    ask: UsedOpenAIRuns,
    choice: UsedModels,
    presets: UsedPresets,
    streams: UsedStreams,
) -> ChatCompletion | StreamingResponse:
    """Answers the last message from the documents; the messages before it are the history.

    Nothing is listed, stored or remembered, unless `metadata.session_id` names a session: the last message is then
    asked there, after that session's own history. `metadata.rag_scope` says where to search, like a message's
    `rag_scope`: `global` is every workspace that the key may read. Markers such as [1] in the text refer to
    `citations`, with quote and page; `annotations` give their positions, and the text ends with its sources, unless
    `metadata.footnotes` or the preset's `footnotes` is `false`. A front end's own requests (`metadata.task`, or a text
    that begins with "### Task:") are answered without documents. Closing the connection stops the run. `n` above 1,
    tools, audio and log probabilities are rejected.
    """
    preset = await chosen_preset(presets, caller, body.model)
    question = with_preset(question_of(body, choice), preset)
    streams.admit()
    run = await ask.ask(caller, question)
    answering = Completing(
        run_id=str(run.id),
        created=int(run.created_at.timestamp()),
        model=body.model,
        base_url=base_url(request),
        footnotes=wants_footnotes(body.metadata, preset),
        usage=bool(body.stream_options and body.stream_options.include_usage),
    )
    forgetting = question.session_id is None
    if body.stream:
        return event_stream(_chunks(ask, caller, run, answering, forgetting))
    return await unless_left(request, _completion(ask, caller, run, answering, forgetting))


def base_url(request: Request) -> str:
    """Returns the gateway's address as the caller sees it."""
    headers = request.headers
    host = headers.get("x-forwarded-host") or headers.get("host", "")
    return f"{headers.get('x-forwarded-proto', 'http')}://{host}"


async def _chunks(
    ask: OpenAIRuns, caller: Principal, run: Run, answering: Completing, forgetting: bool
) -> AsyncIterator[bytes]:
    """Yields the completion in pieces. A client that disconnects before the end stops the run."""
    chunks, seen = ChatChunks(answering), BEGINNING
    try:
        yield chunks.opening()
        async with aclosing(ask.streams.entries(caller, run)) as entries:
            async for entry in entries:
                seen = entry[0] if entry else seen
                if shown_entry := chunks.of(entry):
                    yield shown_entry
                if chunks.over:
                    break
    finally:
        ask.leave(caller, run, stopping=not chunks.over, forgetting=forgetting and not chunks.failed, after=seen)


async def _completion(
    ask: OpenAIRuns, caller: Principal, run: Run, answering: Completing, forgetting: bool
) -> ChatCompletion:
    """Returns the completion, also the partial answer of a run that ends early. Raises AnswerFailed without any."""
    whole, seen, failed = WholeAnswer(answering), BEGINNING, False
    try:
        async with aclosing(ask.streams.entries(caller, run)) as entries:
            async for entry in entries:
                if entry is None:
                    continue
                seen = entry[0]
                if (completion := whole.of(entry)) is not None:
                    return completion
        raise AssertionError("a run's events end with its terminal one")
    except AnswerFailed:
        failed = True
        raise
    finally:
        ask.leave(caller, run, stopping=not whole.over, forgetting=forgetting and not failed, after=seen)
