"""Answers from images and text with a vision model: no search, no artifact, nothing to check."""

from __future__ import annotations

from typing import Any, TypedDict
from uuid import UUID

from langgraph.runtime import Runtime

from contracts.fixed_answers import IMAGES_UNSEEN
from contracts.run_events import MessageCompleted, MessageDelta, ProviderIssue
from inference.chat import ChatMessage
from inference.errors import ChatError, ContextTooLong, ModelCannot, ProviderRejected
from inference.estimate import TOKENS_OF_AN_IMAGE
from orchestrator.errors import ModelFailed
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.image_texts import texts_of_images
from orchestrator.graphs.conversation.images_in_view import with_images
from orchestrator.graphs.conversation.nodes.reply_plainly import written_plainly
from orchestrator.graphs.conversation.nodes.reply_to_general_input import kept_turns
from orchestrator.graphs.conversation.state import Turn
from service_kit.problems import ServiceSilent, Unavailable

STEP = "Looked at the images with the model of the role vision, without a search"
UNSEEN_STEP = "Said that no model sees the images"
READ_STEP = "Took the text that was recognised in the image, as no model sees it"
NO_MODEL = "no model is configured for the role `vision`"
UNSEEN = f"{IMAGES_UNSEEN}{{reason}}. {{rest}}"
UPLOAD = (
    "If there is text in the image, upload it as a document (`attractor ingest FILE`): its text is then recognised, "
    "and I can answer from it."
)


class ShownTurn(TypedDict):
    """What the node reads."""

    internal_messages: list[Turn]
    answer_id: str


async def image_processing(state: ShownTurn, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Says so if there is no vision model, or the images cannot be read, and quotes those that are also documents.

    Raises BudgetExceeded, ModelFailed.
    """
    context = runtime.context
    chat = context.models.of("vision")
    if chat is None:
        return await _unseen(state, context, NO_MODEL)
    turns = kept_turns(
        state["internal_messages"], state["answer_id"], context.limits.history_tokens, TOKENS_OF_AN_IMAGE
    )
    prompt = context.prompts.image_processing.render(now=context.clock.description)
    if instructions := context.options.get("instructions"):
        prompt = f"{prompt}\n\n{context.prompts.instructions.render(instructions=instructions)}"
    try:
        messages = [ChatMessage("system", prompt), *await with_images(turns, context)]
        return await written_plainly(chat, messages, state["answer_id"], context, STEP)
    except ContextTooLong as error:
        raise ModelFailed(str(error)) from error
    except (ModelCannot, ProviderRejected, Unavailable) as error:
        return await _unseen(state, context, str(error))
    except ChatError as error:
        raise ModelFailed(str(error)) from error


async def _unseen(state: ShownTurn, context: ConversationContext, reason: str) -> dict[str, Any]:
    answer_id, issues = state["answer_id"], [f"no model saw the images: {reason}"]
    texts: list[str] = []
    try:
        texts = await texts_of_images(state["internal_messages"], context)
    except ServiceSilent as error:
        issues.append(f"whether the images are documents is not known: {error}")
    content = UNSEEN.format(reason=reason, rest="\n\n".join(texts) or UPLOAD)
    for issue in issues:
        context.events.emit(ProviderIssue(message=issue))
    context.events.emit(MessageDelta(text=content))
    context.events.emit(MessageCompleted(message_id=UUID(answer_id), content=content))
    return {
        "internal_messages": [Turn(id=answer_id, role="assistant", content=content)],
        "mode": "extractive",
        "issues": issues,
        "steps_executed": [READ_STEP if texts else UNSEEN_STEP],
    }
