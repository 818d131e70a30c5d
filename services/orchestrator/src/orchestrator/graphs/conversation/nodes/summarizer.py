"""Condenses the older messages of a long conversation into one, which replaces them in prompts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, TypedDict

from langgraph.runtime import Runtime

from contracts.prompt_fence import neutralising
from contracts.run_events import ProviderIssue
from inference.chat import ChatMessage
from inference.errors import ChatError
from inference.role_chat import RoleChat
from orchestrator.graphs.conversation.budgets import within_budget
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.state import Turn

LONGEST_SUMMARY_TOKENS = 400
TIMEOUT_SECONDS = 30.0
# Characters of all messages condensed at a time; of longer ones, only the beginnings and ends are read.
MOST_CHARACTERS_READ = 24_000
NO_SUMMARY = "(nothing)"
neutralised = neutralising("message", "summary")


class LongConversation(TypedDict):
    """What the node reads."""

    internal_messages: list[Turn]
    summary_tokens: int | None


async def summarizer(state: LongConversation, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Condenses. If the model fails, the next turn tries again; until then, messages that do not fit are left out."""
    context = runtime.context
    older = condensable(state["internal_messages"], state["summary_tokens"] or 0)
    chat = context.models.of("summary")
    if chat is None or all(turn["role"] == "summary" for turn in older):
        return {}
    prompt = context.prompts.summarizer.render(earlier=_earlier(older), messages=_messages(older))
    try:
        text = await _condensed(chat, prompt)
    except (ChatError, TimeoutError) as error:
        text, reason = "", str(error) or "the chat model took too long"
    else:
        reason = "the chat model wrote nothing"
    if not text:
        issue = f"earlier messages were not condensed: {reason}"
        context.events.emit(ProviderIssue(message=issue))
        return {"issues": [issue]}
    count = sum(turn["role"] != "summary" for turn in older)
    return {
        "condensed": Turn(id=older[-1]["id"], role="summary", content=text),
        "steps_executed": [f"Condensed {count} earlier messages"],
    }


def condensable(messages: Sequence[Turn], tokens: int) -> Sequence[Turn]:
    """Returns all messages but the newest exchanges that fit into half the budget together.

    The remainder begins with a question, so that questions and answers still alternate.
    """
    newest_first = [turn["content"] for turn in reversed(messages) if turn["role"] != "summary"]
    cut = len(messages) - within_budget(newest_first, tokens // 2)
    while cut < len(messages) and messages[cut]["role"] != "user":
        cut += 1
    return messages[:cut]


async def _condensed(chat: RoleChat, prompt: str) -> str:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        return (await chat.complete([ChatMessage("user", prompt)], max_tokens=LONGEST_SUMMARY_TOKENS)).strip()


def _earlier(turns: Sequence[Turn]) -> str:
    return next((neutralised(turn["content"]) for turn in turns if turn["role"] == "summary"), NO_SUMMARY)


def _messages(turns: Sequence[Turn]) -> str:
    spoken_turns = [turn for turn in turns if turn["role"] != "summary"]
    most = MOST_CHARACTERS_READ // len(spoken_turns)
    return "\n".join(
        f'<message from="{turn["role"]}">{neutralised(_shortened(turn["content"], most))}</message>'
        for turn in spoken_turns
    )


def _shortened(text: str, most: int) -> str:
    """Returns the text; if it is too long, only its beginning and end."""
    return text if len(text) <= most else f"{text[: most // 2]} […] {text[-(most // 2) :]}"
