"""Writes the answer with only the chat model: no search, no sources, nothing to check."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from typing import Any, TypedDict
from uuid import UUID

from langgraph.runtime import Runtime

from contracts.run_events import MessageCompleted, ProviderIssue
from inference.chat import ChatMessage
from inference.errors import CallRefused, ChatError, ModelCannot, ProviderRejected
from inference.estimate import TOKENS_OF_AN_IMAGE
from inference.role_chat import RoleChat
from orchestrator.errors import BudgetExceeded, ModelFailed
from orchestrator.graphs.conversation.context import ConversationContext, WrittenSoFar
from orchestrator.graphs.conversation.images_in_view import WITHOUT_IMAGES, any_images, with_images
from orchestrator.graphs.conversation.model_writing import CUT, CUT_ISSUE, tell
from orchestrator.graphs.conversation.nodes.reply_to_general_input import chosen, conversation, kept_turns, show
from orchestrator.graphs.conversation.state import Turn
from service_kit.problems import Unavailable

STEP = "Wrote the answer with the chat model, without a search"
NO_MODEL = "no chat model is configured"


class PlainTurn(TypedDict):
    """What the node reads."""

    internal_messages: list[Turn]
    answer_id: str


async def reply_plainly(state: PlainTurn, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Raises BudgetExceeded; ModelFailed, since nothing else could answer."""
    context = runtime.context
    chat = context.models.of("answer")
    if chat is None:
        raise ModelFailed(NO_MODEL)
    turns, answer_id, tokens = state["internal_messages"], state["answer_id"], context.limits.history_tokens
    instructions = context.options.get("instructions")
    system = [ChatMessage("system", instructions)] if instructions else []
    seen = kept_turns(turns, answer_id, tokens, TOKENS_OF_AN_IMAGE)
    vision = context.models.of("vision")
    try:
        if vision is not None and any_images(seen):
            try:
                messages = [*system, *await with_images(seen, context)]
                return await written_plainly(vision, messages, answer_id, context, STEP)
            except (ModelCannot, ProviderRejected, Unavailable) as error:
                context.events.emit(ProviderIssue(message=f"{WITHOUT_IMAGES}: {error}"))
        return await written_plainly(chat, [*system, *conversation(turns, answer_id, tokens)], answer_id, context, STEP)
    except ChatError as error:
        raise ModelFailed(str(error)) from error


async def written_plainly(
    chat: RoleChat, messages: Sequence[ChatMessage], answer_id: str, context: ConversationContext, step: str
) -> dict[str, Any]:
    """Shows what a model writes; returns the answer for the state. Raises BudgetExceeded, ModelFailed, ChatError."""
    context.draft = WrittenSoFar("model")
    shown, issues, is_cut = context.draft.shown, list[str](), False
    try:
        async with aclosing(chat.stream(messages, **chosen(context.options))) as deltas:
            async for delta in deltas:
                tell(delta, context.events, issues)
                if delta.restarted:
                    shown.clear()
                is_cut = is_cut or delta.finish_reason == CUT
                show(context.events, shown, delta.text)
    except CallRefused as refusal:
        raise BudgetExceeded(refusal.detail) from refusal
    content = "".join(shown)
    if not content.strip():
        raise ModelFailed("the chat model gave no answer")
    if is_cut:
        issues.append(CUT_ISSUE)
        context.events.emit(ProviderIssue(message=CUT_ISSUE))
    context.events.emit(MessageCompleted(message_id=UUID(answer_id), content=content, incomplete=is_cut))
    return {
        "internal_messages": [Turn(id=answer_id, role="assistant", content=content)],
        "mode": "model",
        "incomplete": is_cut,
        "issues": issues,
        "steps_executed": [step],
    }
