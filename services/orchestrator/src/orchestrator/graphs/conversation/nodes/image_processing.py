"""Answers from images and text with a vision model: no search, no artifact, nothing to check."""

from __future__ import annotations

from typing import Any, TypedDict
from uuid import UUID

from langgraph.runtime import Runtime

from contracts.events import MessageCompleted, MessageDelta, ProviderIssue
from contracts.fixed_answers import IMAGES_UNSEEN
from inference.chat import ChatMessage
from inference.errors import ChatError, ContextTooLong, ModelCannot, ProviderRejected
from inference.estimate import TOKENS_OF_AN_IMAGE
from orchestrator.errors import ModelFailed
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.images_in_view import with_images
from orchestrator.graphs.conversation.nodes.reply_plainly import written_plainly
from orchestrator.graphs.conversation.nodes.reply_to_general_input import kept_turns
from orchestrator.graphs.conversation.state import Turn
from service_kit.problems import Unavailable

STEP = "Looked at the images with the model of the role vision, without a search"
UNSEEN_STEP = "Said that no model sees the images"
NO_MODEL = "no model is configured for the role `vision`"
UNSEEN = (
    f"{IMAGES_UNSEEN}{{reason}}. If there is text in the image, upload it as a document (`attractor ingest FILE`): its "
    "text is then recognised, and I can answer from it."
)


class ShownTurn(TypedDict):
    """What the node reads."""

    internal_messages: list[Turn]
    answer_id: str


async def image_processing(state: ShownTurn, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Says so if there is no vision model, or the images cannot be read. Raises BudgetExceeded, ModelFailed."""
    context = runtime.context
    chat = context.models.of("vision")
    if chat is None:
        return _unseen(state["answer_id"], context, NO_MODEL)
    turns = kept_turns(
        state["internal_messages"], state["answer_id"], context.limits.history_tokens, TOKENS_OF_AN_IMAGE
    )
    prompt = context.prompts.image_processing.render(now=context.clock.told)
    if instructions := context.options.get("instructions"):
        prompt = f"{prompt}\n\n{context.prompts.instructions.render(instructions=instructions)}"
    try:
        said = [ChatMessage("system", prompt), *await with_images(turns, context)]
        return await written_plainly(chat, said, state["answer_id"], context, STEP)
    except ContextTooLong as error:
        raise ModelFailed(str(error)) from error
    except (ModelCannot, ProviderRejected, Unavailable) as error:
        return _unseen(state["answer_id"], context, str(error))
    except ChatError as error:
        raise ModelFailed(str(error)) from error


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
