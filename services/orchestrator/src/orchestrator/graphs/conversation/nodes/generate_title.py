"""Names the session after its first exchange."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from langgraph.runtime import Runtime

from contracts.prompt_fence import neutralising
from contracts.run_events import ProviderIssue
from inference.chat import ChatMessage
from inference.errors import ChatError
from inference.role_chat import RoleChat
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.state import ArtifactInTurn, Proposed, WrittenAnswer, answer_of

LONGEST_TITLE = 80
TITLE_TOKENS = 40
TIMEOUT_SECONDS = 10.0
ENOUGH_TEXT = 2_000

neutralised = neutralising("question", "answer")


class UntitledTurn(WrittenAnswer):
    """What the node reads."""

    question: str
    mode: Literal["model", "extractive"]
    proposal: Proposed | None


async def generate_title(state: UntitledTurn, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Asks the model that wrote the answer; the question is the title without a model, or if it fails."""
    context, issues = runtime.context, []
    title = ""
    chat = context.models.of("title")
    if chat is not None and state["mode"] == "model":
        prompt = context.prompts.generate_title.render(
            question=neutralised(state["question"][:ENOUGH_TEXT]),
            answer=neutralised(_written(state, context.artifact)[:ENOUGH_TEXT]),
        )
        try:
            title = await _ask(chat, prompt)
        except (ChatError, TimeoutError) as error:
            issues = [f"the session is named after its question: {error or 'the chat model took too long'}"]
            context.events.emit(ProviderIssue(message=issues[0]))
    return {
        "title": trimmed(title) or trimmed(state["question"]),
        "issues": issues,
        "steps_executed": ["Named the session"],
    }


def _written(state: UntitledTurn, artifact: ArtifactInTurn | None) -> str:
    """Returns the answer, followed by the text of the artifact if there is one: a new one, or the session's."""
    shown = state["proposal"] or artifact
    return answer_of(state) if shown is None else f"{answer_of(state)}\n\n{shown['text']}"


async def _ask(chat: RoleChat, prompt: str) -> str:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        return await chat.complete([ChatMessage("user", prompt)], max_tokens=TITLE_TOKENS)


def trimmed(text: str) -> str:
    """Returns the first line without quotation marks, cut at the end of a word to at most LONGEST_TITLE characters."""
    line = next((line for line in text.strip().splitlines() if line.strip()), "")
    title = " ".join(line.split()).strip("\"'“”«»*# ").rstrip(".")
    if len(title) <= LONGEST_TITLE:
        return title
    cut = title[: LONGEST_TITLE - 1]
    return (cut.rpartition(" ")[0] or cut).rstrip(" ,;:") + "…"
