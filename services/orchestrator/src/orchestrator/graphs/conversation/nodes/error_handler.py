"""Answers a turn in which a node failed: says what failed, and keeps what had been found or written by then."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal
from uuid import UUID

from langgraph.runtime import Runtime

from contracts.run_events import MessageCompleted, MessageDelta, MessageRestarted, ProviderIssue
from orchestrator.citations.support import CitedSpan
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.passages import quoted, unverified
from orchestrator.graphs.conversation.state import FoundChunk, Turn, WrittenAnswer, answer_of
from orchestrator.graphs.conversation.world_telling import NOT_COMMITTED
from orchestrator.graphs.stages import NodeFailure
from orchestrator.runs.events import RunEvents

FAILED = "“{label}” failed because of an internal error, so this is not a whole answer."
FOUND = "This had been found:"
UNCHECKED = "The citations of this answer could not be checked, so they were left out."


class FailedTurn(WrittenAnswer):
    """What the node reads."""

    error: NodeFailure | None
    question: str
    mode: Literal["model", "extractive"]
    passages: list[FoundChunk]
    staged: dict[str, Any] | None


async def error_handler(state: FailedTurn, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Writes the answer; a failure after the answer was checked is only reported as an issue."""
    error, events = state["error"], runtime.context.events
    assert error is not None
    step = f"“{error['label']}” failed: the answer says so, and keeps what was there"
    issue = f"{error['stage']} failed: {error['kind']}"
    events.emit(ProviderIssue(message=issue))
    if error["stage"] in ("reflect", "clean_state", "generate_title", "summarizer"):
        return {"issues": [issue]}
    if error["stage"] == "verify_citations":
        return {**await _unchecked(state, events), "issues": [issue], "steps_executed": [step]}
    content, cited = _found(state, error["label"])
    if state["staged"] is not None:
        content = f"{content}\n\n{NOT_COMMITTED}"
    if await events.streamed_before():
        events.emit(MessageRestarted())
    events.emit(MessageDelta(text=content))
    return {
        "internal_messages": [Turn(id=state["answer_id"], role="assistant", content=content)],
        "fallback": True,
        "proposal": None,
        "staged": None,
        "mode": "extractive",
        "cited": [asdict(one) for one in cited],
        "issues": [issue],
        "steps_executed": [step],
    }


async def _unchecked(state: FailedTurn, events: RunEvents) -> dict[str, Any]:
    """Keeps the answer without its markers; none of its sentences is checked."""
    left = unverified(answer_of(state))
    notes = [left.content, UNCHECKED, *([] if state["staged"] is None else [NOT_COMMITTED])]
    content, sentences = "\n\n".join(notes), left.sentences
    if await events.streamed_before():
        events.emit(MessageRestarted())
    events.emit(MessageDelta(text=content))
    events.emit(MessageCompleted(message_id=UUID(state["answer_id"]), content=content, sentences=sentences))
    return {
        "internal_messages": [Turn(id=state["answer_id"], role="assistant", content=content)],
        "fallback": True,
        "staged": None,
        "cited": [],
        "sentences": [sentence.model_dump(mode="json") for sentence in sentences],
    }


def _found(state: FailedTurn, label: str) -> tuple[str, list[CitedSpan]]:
    """Quotes the passages; if quoting itself may have failed, names their documents."""
    failed = FAILED.format(label=label)
    if not state["passages"]:
        return failed, []
    if state["mode"] == "extractive":
        names = dict.fromkeys(passage["document_title"] or passage["document_name"] for passage in state["passages"])
        return f"{failed} {FOUND} {', '.join(names)}", []
    quotes, cited = quoted(state["question"], state["passages"])
    return f"{failed} {FOUND}\n\n{quotes}" if cited else failed, cited
