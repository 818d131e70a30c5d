"""Requests and responses of the OpenAI API: responses, which are runs to follow, resume, stop and delete.

Unknown fields are accepted. Those that would change the answer but are not supported are rejected where the request is
read.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints

from contracts.base import Resource, plain
from contracts.openai_api import MOST_MESSAGES, Lenient, ModelName, Said
from contracts.orchestrator import Citation

ResponseId = Annotated[
    str,
    StringConstraints(strict=True, min_length=37, max_length=37, pattern="^resp_[0-9a-f]{32}$"),
    AfterValidator(plain),
]
MetadataKey = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=64), AfterValidator(plain)]
MetadataValue = Annotated[str, StringConstraints(strict=True, max_length=512), AfterValidator(plain)]
ResponseMetadata = Annotated[dict[MetadataKey, MetadataValue], Field(max_length=16)]
ResponseStatus = Literal["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]


class InputPart(Lenient):
    """A part of a message. Only text is supported here."""

    type: str
    text: Said | None = None
    image_url: Any = None


class InputItem(Lenient):
    """A message. Other kinds of items are rejected."""

    type: str = "message"
    role: Literal["system", "developer", "user", "assistant"] | None = None
    content: Said | Annotated[list[InputPart], Field(max_length=100)] | None = None


class ResponseRequest(Lenient):
    """The last message of `input` is the question; the ones before it are the history after `previous_response_id`.

    `metadata.session_id` names a session to ask in, `metadata.rag_scope` says where to search.
    """

    model: ModelName
    input: Said | Annotated[list[InputItem], Field(min_length=1, max_length=MOST_MESSAGES)]
    instructions: Said | None = None
    previous_response_id: ResponseId | None = None
    background: bool | None = None
    store: bool | None = None
    stream: bool | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_output_tokens: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    metadata: ResponseMetadata | None = None


class FileCitation(Resource):
    """The marker at character `index` refers to the document `file_id`."""

    type: Literal["file_citation"] = "file_citation"
    file_id: str
    filename: str
    index: int


class LinkCitation(Resource):
    """Characters `start_index` to `end_index` of the text are the marker."""

    type: Literal["url_citation"] = "url_citation"
    start_index: int
    end_index: int
    title: str
    url: str


class OutputText(Resource):
    """`citations` are the sources that the markers of the text refer to, with quote and page."""

    type: Literal["output_text"] = "output_text"
    text: str
    annotations: list[FileCitation | LinkCitation] = []
    logprobs: list[Any] = []
    citations: list[Citation] = []


class OutputMessage(Resource):
    type: Literal["message"] = "message"
    id: str
    status: Literal["in_progress", "completed", "incomplete"]
    role: Literal["assistant"] = "assistant"
    content: list[OutputText]


class ReasoningText(Resource):
    type: Literal["reasoning_text"] = "reasoning_text"
    text: str


class ReasoningItem(Resource):
    """The model's reasoning, sent to clients that follow the response; it is not stored."""

    type: Literal["reasoning"] = "reasoning"
    id: str
    summary: list[Any] = []
    content: list[ReasoningText] = []
    status: Literal["in_progress", "completed", "incomplete"] | None = None


class CachedTokens(Resource):
    cached_tokens: int
    cache_write_tokens: int = 0


class ReasoningTokens(Resource):
    reasoning_tokens: int


class ResponseTokens(Resource):
    """The run's model usage."""

    input_tokens: int
    input_tokens_details: CachedTokens
    output_tokens: int
    output_tokens_details: ReasoningTokens
    total_tokens: int


class ResponseFailure(Resource):
    """`type` is the run's `error_type`."""

    code: Literal["server_error", "rate_limit_exceeded"]
    message: str
    type: str


class IncompleteDetails(Resource):
    reason: Literal["max_output_tokens"] = "max_output_tokens"


class TextFormat(Resource):
    type: Literal["text"] = "text"


class TextSettings(Resource):
    format: TextFormat = TextFormat()


class ResponseObject(Resource):
    """A response. `run_id` is its run, `session_id` the session it belongs to."""

    id: str
    object: Literal["response"] = "response"
    created_at: int
    completed_at: int | None = None
    status: ResponseStatus
    background: bool = False
    error: ResponseFailure | None = None
    incomplete_details: IncompleteDetails | None = None
    instructions: str | None = None
    max_output_tokens: int | None = None
    metadata: dict[str, str] = {}
    model: str
    output: list[ReasoningItem | OutputMessage] = []
    parallel_tool_calls: bool = False
    previous_response_id: str | None = None
    store: bool = True
    temperature: float | None = None
    text: TextSettings = TextSettings()
    tool_choice: Literal["none"] = "none"
    tools: list[Any] = []
    top_p: float | None = None
    truncation: Literal["disabled"] = "disabled"
    usage: ResponseTokens | None = None
    run_id: str
    session_id: str


class DeletedResponse(Resource):
    id: str
    object: Literal["response"] = "response"
    deleted: Literal[True] = True
