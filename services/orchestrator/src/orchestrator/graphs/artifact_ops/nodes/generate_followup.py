"""Writes the answer of a turn that changed the artifact: what was done."""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict
from uuid import UUID

from langgraph.runtime import Runtime

from contracts.run_events import MessageCompleted, MessageDelta, MessageRestarted, ProviderIssue
from inference.chat import ChatMessage
from inference.errors import CallRefused, ChatError
from orchestrator.citations.check import check
from orchestrator.errors import ArtifactOpsError
from orchestrator.graphs.artifact_ops.prompting import document
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.state import Proposed, Turn

TIMEOUT_SECONDS = 20.0
TOKENS = 150
LONGEST = 600
ENOUGH_TEXT = 1_500


class ChangedArtifact(TypedDict):
    """What the node reads."""

    internal_messages: list[Turn]
    answer_id: str
    proposal: Proposed | None


async def generate_followup(state: ChangedArtifact, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Uses a fixed text without a model, if the model fails, or if something is missing."""
    context, proposal = runtime.context, state["proposal"]
    if proposal is None:
        raise ArtifactOpsError("an action ended without a version")
    issues = list[str]()
    try:
        reply = "" if proposal["cut_short"] else await _reply(state, proposal, context)
    except (ChatError, TimeoutError) as error:
        reply = ""
        if not isinstance(error, CallRefused):
            issues = [f"what was done is told by a fixed text: {error or 'the chat model took too long'}"]
            context.events.emit(ProviderIssue(message=issues[0]))
    content = reply or proposal["done"]
    if await context.events.streamed_before():
        context.events.emit(MessageRestarted())
    context.events.emit(MessageDelta(text=content))
    context.events.emit(MessageCompleted(message_id=UUID(state["answer_id"]), content=content))
    return {
        "internal_messages": [Turn(id=state["answer_id"], role="assistant", content=content)],
        "issues": issues,
        "steps_executed": ["Told what was done"],
    }


async def _reply(state: ChangedArtifact, proposal: Proposed, context: ConversationContext) -> str:
    """Returns the model's text without markers; empty if it is too long for a short message."""
    chat = context.models.of("answer")
    if chat is None:
        return ""
    wish = next(turn for turn in reversed(state["internal_messages"]) if turn["id"] != state["answer_id"])
    prompt = context.artifact_prompts.render(
        "generate_followup", done=proposal["done"], document=document(proposal["title"], proposal["text"][:ENOUGH_TEXT])
    )
    async with asyncio.timeout(TIMEOUT_SECONDS):
        reply = await chat.complete(
            [ChatMessage("system", prompt), ChatMessage("user", wish["content"])], max_tokens=TOKENS
        )
    text = check(reply.strip(), [], []).content.strip()
    return text if len(text) <= LONGEST else ""
