"""Answers from images and text with a model that sees: no search, no artifact, nothing to check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict
from uuid import UUID

from langgraph.runtime import Runtime

from contracts.events import MessageCompleted, MessageDelta, ProviderIssue
from contracts.fixed_answers import IMAGES_UNSEEN
from inference.chat import ChatMessage, ImagePart, TextPart
from inference.errors import ChatError, ContextTooLong, ModelCannot, ProviderRejected
from orchestrator.errors import ImageNotFound, ModelFailed
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.nodes.reply_plainly import written_plainly
from orchestrator.graphs.conversation.nodes.reply_to_general_input import kept_turns
from orchestrator.graphs.conversation.state import Turn

STEP = "Looked at the images with the model of the role vision, without a search"
UNSEEN_STEP = "Said that no model sees the images"
NO_MODEL = "no model is configured for the role `vision`"
MOST_SEEN = 10  # images in one prompt, the newest
GONE = "(An image stood here that was deleted.)"
TOO_MANY = "(An image stood here that is left out, as there are too many.)"
UNSEEN = (
    f"{IMAGES_UNSEEN}{{reason}}. If there is text in the image, upload it as a document (`attractor ingest FILE`): its "
    "text is then recognised, and I can answer from it."
)


class ShownTurn(TypedDict):
    """What the node reads."""

    internal_messages: list[Turn]
    answer_id: str


async def image_processing(state: ShownTurn, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Says so where no model sees. Raises BudgetExceeded, ModelFailed."""
    context = runtime.context
    chat = context.models.of("vision")
    if chat is None:
        return _unseen(state["answer_id"], context, NO_MODEL)
    turns = kept_turns(state["internal_messages"], state["answer_id"], context.limits.history_tokens)
    prompt = context.prompts.image_processing.render(now=context.clock.told)
    if instructions := context.options.get("instructions"):
        prompt = f"{prompt}\n\n{context.prompts.instructions.render(instructions=instructions)}"
    said = [ChatMessage("system", prompt), *await _with_images(turns, context)]
    try:
        return await written_plainly(chat, said, state["answer_id"], context, STEP)
    except ContextTooLong as error:
        raise ModelFailed(str(error)) from error
    except (ModelCannot, ProviderRejected) as error:
        return _unseen(state["answer_id"], context, str(error))
    except ChatError as error:
        raise ModelFailed(str(error)) from error


async def _with_images(turns: Sequence[Turn], context: ConversationContext) -> list[ChatMessage]:
    """Returns what was said, with the newest images by their bytes."""
    told: list[ChatMessage] = []
    room = MOST_SEEN
    for turn in reversed(turns):
        if turn["role"] == "summary":
            continue
        content: str | list[TextPart | ImagePart] = turn["content"]
        if named := turn.get("images"):
            parts = [await _part(one, context) if at < room else TextPart(TOO_MANY) for at, one in enumerate(named)]
            room -= min(room, len(named))
            content = [TextPart(turn["content"]), *parts]
        told.append(ChatMessage(turn["role"], content))
    return told[::-1]


async def _part(image_id: str, context: ConversationContext) -> TextPart | ImagePart:
    assert context.image is not None
    try:
        return await context.image(UUID(image_id))
    except ImageNotFound:
        return TextPart(GONE)


def _unseen(answer_id: str, context: ConversationContext, reason: str) -> dict[str, Any]:
    content, issue = UNSEEN.format(reason=reason), f"no model saw the images: {reason}"
    context.events.emit(ProviderIssue(message=issue))
    context.events.emit(MessageDelta(text=content))
    context.events.emit(MessageCompleted(message_id=UUID(answer_id), content=content))
    return {
        "internal_messages": [Turn(id=answer_id, role="assistant", content=content)],
        "mode": "extractive",
        "issues": [issue],
        "steps_executed": [UNSEEN_STEP],
    }
