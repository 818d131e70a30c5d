"""Writes the answer with the chat model alone: no search, no sources, nothing to check."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any, TypedDict
from uuid import UUID

from langgraph.runtime import Runtime

from contracts.events import MessageCompleted
from inference.chat import ChatMessage
from inference.errors import ChatError
from orchestrator.errors import ModelFailed
from orchestrator.graphs.conversation.context import ConversationContext, WrittenSoFar
from orchestrator.graphs.conversation.nodes.reply_to_general_input import answer_text, chosen, conversation, show
from orchestrator.graphs.conversation.state import Turn

STEP = "Wrote the answer with the chat model, without a search"
NO_MODEL = "no chat model is configured"


class PlainTurn(TypedDict):
    """What the node reads."""

    internal_messages: list[Turn]
    answer_id: str


async def reply_plainly(state: PlainTurn, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Raises ModelFailed: there is nothing that could answer in the model's place."""
    context = runtime.context
    if context.chat is None:
        raise ModelFailed(NO_MODEL)
    said = conversation(state["internal_messages"], state["answer_id"], context.limits.history_tokens)
    if instructions := context.options.get("instructions"):
        said = [ChatMessage("system", instructions), *said]
    context.draft = WrittenSoFar("model")
    shown = context.draft.shown
    try:
        async with aclosing(context.chat.stream(said, **chosen(context.options))) as deltas:
            async for text in answer_text(deltas, context.events):
                show(context.events, shown, text)
    except ChatError as error:
        raise ModelFailed(str(error)) from error
    content = "".join(shown)
    if not content.strip():
        raise ModelFailed("the chat model gave no answer")
    context.events.emit(MessageCompleted(message_id=UUID(state["answer_id"]), content=content))
    return {
        "internal_messages": [Turn(id=state["answer_id"], role="assistant", content=content)],
        "mode": "model",
        "steps_executed": [STEP],
    }
