"""Converts runs into responses of the OpenAI API. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from contracts.models import TokenUsage
from contracts.openai_responses import (
    CachedTokens,
    FileCitation,
    IncompleteDetails,
    LinkCitation,
    OutputMessage,
    OutputText,
    ReasoningItem,
    ReasoningTokens,
    ResponseFailure,
    ResponseObject,
    ResponseStatus,
    ResponseTokens,
)
from contracts.orchestrator import Citation, MessageStatus, Run, RunStatus
from orchestrator.openai_api.errors import LIMITED
from orchestrator.openai_api.footnotes import marked, title_of, url_of
from orchestrator.openai_api.models import DOCUMENTS
from orchestrator.runs.records import RunOptions

ItemStatus = Literal["completed", "incomplete"]


@dataclass(frozen=True)
class ResponseRun:
    """A run with its options."""

    run: Run
    options: RunOptions

    @property
    def id(self) -> str:
        return response_id(self.run.id)


def response_id(run_id: UUID) -> str:
    return f"resp_{run_id.hex}"


def run_id_of(response: str) -> UUID:
    """Returns the run's id from a well-formed response id."""
    return UUID(response.removeprefix("resp_"))


def message_id(run: Run) -> str:
    return f"msg_{(run.answer_id or run.id).hex}"


def begun(request: ResponseRun) -> ResponseObject:
    """Returns the response at its beginning."""
    return _response(request, "queued" if request.options.get("background") else "in_progress")


def as_it_is(request: ResponseRun, base_url: str, thought: Sequence[ReasoningItem] = ()) -> ResponseObject:
    """Returns the response from the stored run, preceded by what was `thought`."""
    run, status = request.run, status_of(request.run)
    output: list[ReasoningItem | OutputMessage] = list(thought)
    if run.answer is not None and run.status.ended:
        ended: ItemStatus = "completed" if status == "completed" else "incomplete"
        part = output_text(run.answer.content, run.answer.citations, base_url)
        output.append(OutputMessage(id=message_id(run), status=ended, content=[part]))
    return _response(request, status).model_copy(
        update={
            "output": output,
            "completed_at": int(run.finished_at.timestamp()) if run.finished_at else None,
            "error": _failure(run) if status == "failed" else None,
            "incomplete_details": IncompleteDetails() if status == "incomplete" else None,
            "usage": _tokens(run.usage) if run.usage else None,
        }
    )


def status_of(run: Run) -> ResponseStatus:
    """Returns the status; `incomplete` for a run with a text that failed or was cut."""
    match run.status:
        case RunStatus.queued:
            return "queued"
        case RunStatus.running:
            return "in_progress"
        case RunStatus.cancelled:
            return "cancelled"
        case RunStatus.failed:
            return "failed" if run.answer is None else "incomplete"
        case RunStatus.completed:
            cut = run.answer is not None and run.answer.status is MessageStatus.incomplete
            return "incomplete" if cut else "completed"


def output_text(text: str, citations: Sequence[Citation], base_url: str) -> OutputText:
    """Returns the text with two annotations per marker: its document, and a URL that shows it."""
    annotations: list[FileCitation | LinkCitation] = []
    for start, end, cited in marked(text, citations):
        annotations.append(FileCitation(file_id=str(cited.document_id), filename=cited.document_name, index=start))
        annotations.append(
            LinkCitation(start_index=start, end_index=end, title=title_of(cited), url=url_of(cited, base_url))
        )
    return OutputText(text=text, annotations=annotations, citations=list(citations))


def _response(request: ResponseRun, status: ResponseStatus) -> ResponseObject:
    run, options = request.run, request.options
    return ResponseObject(
        id=request.id,
        created_at=int(run.created_at.timestamp()),
        status=status,
        background=options.get("background", False),
        instructions=options.get("instructions"),
        max_output_tokens=options.get("max_tokens"),
        metadata={name: str(value) for name, value in options.get("metadata", {}).items()},
        model=options.get("model", DOCUMENTS),
        previous_response_id=options.get("previous"),
        store=not options.get("forgotten", False),
        temperature=options.get("temperature"),
        run_id=str(run.id),
        session_id=str(run.session_id),
    )


def _failure(run: Run) -> ResponseFailure:
    kind = run.error_type or "run-failed"
    return ResponseFailure(
        code="rate_limit_exceeded" if kind in LIMITED else "server_error",
        message=run.error_message or "the run failed",
        type=kind.replace("-", "_"),
    )


def _tokens(usage: TokenUsage) -> ResponseTokens:
    return ResponseTokens(
        input_tokens=usage.input_tokens,
        input_tokens_details=CachedTokens(cached_tokens=usage.cached_tokens),
        output_tokens=usage.output_tokens,
        output_tokens_details=ReasoningTokens(reasoning_tokens=usage.thinking_tokens),
        total_tokens=usage.input_tokens + usage.output_tokens,
    )
