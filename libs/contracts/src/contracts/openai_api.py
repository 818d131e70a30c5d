"""Requests and responses of the OpenAI API: chat completions and models.

Unknown fields are accepted, because clients send many that have no effect here. Those that would change the answer but
are not supported are rejected where the request is read.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from contracts.base import Resource, plain
from contracts.orchestrator import Citation

MOST_MESSAGES = 2_000
Said = Annotated[str, StringConstraints(strict=True, max_length=200_000), AfterValidator(plain)]
ModelName = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=200), AfterValidator(plain)]
Metadata = dict[str, Any]


class Lenient(BaseModel):
    """A body that a client of the OpenAI API sends."""

    model_config = ConfigDict(extra="allow", strict=True)


class ChatPart(Lenient):
    """A part of a message: `text`, and in the user's messages `image_url`, with a data: URL."""

    type: str
    text: Said | None = None
    image_url: Any = None


class ChatMessageParam(Lenient):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Said | Annotated[list[ChatPart], Field(max_length=100)] | None = None


class StreamOptions(Lenient):
    include_usage: bool | None = None


class ChatCompletionRequest(Lenient):
    """The messages are the history. With `metadata.session_id` the last one is asked in that session instead.

    `metadata.rag_scope` says where to search: session, workspace or global.
    """

    model: ModelName
    messages: Annotated[list[ChatMessageParam], Field(min_length=1, max_length=MOST_MESSAGES)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    n: int | None = None
    metadata: Metadata | None = None


class UrlCitation(Resource):
    """Characters `start_index` to `end_index` of the text are the marker."""

    start_index: int
    end_index: int
    title: str
    url: str


class ChatAnnotation(Resource):
    type: Literal["url_citation"] = "url_citation"
    url_citation: UrlCitation


class PromptTokensDetails(Resource):
    cached_tokens: int


class CompletionTokensDetails(Resource):
    reasoning_tokens: int


class ChatUsage(Resource):
    """The tokens that the answer used, as counted for the budgets, including those of the passages.

    They are estimated if a provider does not report them.
    """

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptTokensDetails
    completion_tokens_details: CompletionTokensDetails


class ChatAnswer(Resource):
    """The answer. `citations` are the sources its markers refer to, with quote and page."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None
    reasoning_content: str | None = None
    annotations: list[ChatAnnotation] = []
    citations: list[Citation] = []


class ChatChoice(Resource):
    """`finish_reason` is `length` if the answer ends early: the model stopped or was cut off, or the time was up."""

    index: int = 0
    message: ChatAnswer
    logprobs: None = None
    finish_reason: Literal["stop", "length"] = "stop"


class ChatCompletion(Resource):
    """An answer. `run_id` is the run that wrote it."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[ChatChoice]
    usage: ChatUsage
    run_id: str


BreakerState = Literal["closed", "open", "half-open"]


class ModelCard(Resource):
    """`breaker` belongs to the first chat model in order: while it is `open`, calls fail at once and the next model
    answers, or the documents are quoted; `half-open`: the next call tries it again. Null if no model is used.
    """

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "attractor"
    description: str
    breaker: BreakerState | None = None


class ModelList(Resource):
    object: Literal["list"] = "list"
    data: list[ModelCard]
