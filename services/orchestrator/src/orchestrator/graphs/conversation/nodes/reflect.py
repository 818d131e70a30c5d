"""Derives from a turn that changed the artifact how the user wants texts written, and facts about the user.

The answer is final by then. The reflections are committed with the run, in `turn.completed`; memory decides about them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from contracts.prompt_fence import neutralising
from contracts.reflections import MOST_REFLECTIONS, Reflection
from contracts.run_events import ProviderIssue
from inference.chat import ChatMessage
from inference.errors import ChatError
from inference.role_chat import RoleChat
from inference.structured import structured
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.passages import NONE

TIMEOUT_SECONDS = 20.0
TOKENS = 600
ENOUGH_TEXT, ENOUGH_SELECTED = 4_000, 1_000
LEAST_QUOTE = 4
neutralised = neutralising("message", "choice", "selected", "edit", "memory")


class QuotedReflection(Reflection):
    """A reflection with the user's words that show it."""

    model_config = ConfigDict(extra="forbid")

    quote: Annotated[str, StringConstraints(strip_whitespace=True, min_length=LEAST_QUOTE, max_length=400)]


class Reflections(BaseModel):
    """What one turn showed."""

    model_config = ConfigDict(extra="forbid")

    reflections: Annotated[list[QuotedReflection], Field(max_length=MOST_REFLECTIONS)]


class ChangedTurn(TypedDict):
    """What the node reads: nothing that was found or written."""

    question: str
    artifact_action_params: dict[str, Any] | None


async def reflect(state: ChangedTurn, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Derives nothing without a chat model; memory then reads the message by its own rules.

    Nothing is learned from a temporary session. Failures are issues of the run, and change nothing else.
    """
    context = runtime.context
    chat = context.models.of("summary")
    if chat is None or not context.remembers:
        return {}
    issues = list[str]()
    choices, selected = _done(state["artifact_action_params"] or {})
    own_words = [state["question"][:ENOUGH_TEXT], *choices, *context.edited_by_hand]
    prompt = context.prompts.reflect.render(
        message=neutralised(own_words[0]),
        choices=_fenced("choice", choices),
        selected=_fenced("selected", selected),
        edits=_fenced("edit", context.edited_by_hand),
        profile=await context.profile.text(issues),
    )
    try:
        found = await _derived(chat, prompt)
    except (ChatError, TimeoutError) as error:
        issue = f"nothing was learned from this turn: {error or 'the chat model took too long'}"
        context.events.emit(ProviderIssue(message=issue))
        return {"issues": [*issues, issue]}
    kept = shown_by(own_words, found)
    return {
        "issues": issues,
        "reflections": [one.model_dump(mode="json") for one in kept],
        "steps_executed": [f"Learned of {len(kept)} wishes or facts"] if kept else [],
    }


def shown_by(own_words: Sequence[str], found: Sequence[QuotedReflection]) -> list[Reflection]:
    """Returns the distinct reflections whose quote is in the user's words."""
    texts = [_plain(one) for one in own_words]
    kept = (
        Reflection(kind=one.kind, aspect=one.aspect if one.kind == "style" else None, text=" ".join(one.text.split()))
        for one in found
        if any(_plain(one.quote) in text for text in texts)
    )
    return list(dict.fromkeys(kept))


async def _derived(chat: RoleChat, prompt: str) -> list[QuotedReflection]:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        return (await structured(chat, [ChatMessage("user", prompt)], Reflections, max_tokens=TOKENS)).reflections


def _done(params: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Returns the chosen options of a theme, and the selected text. A quick action's prompt does not count as said."""
    if "prompt" in params:
        return [], []
    if "start" in params:
        return [], [str(params.get("text", ""))[:ENOUGH_SELECTED]]
    return [f"{name.replace('_', ' ')}: {value}" for name, value in params.items()], []


def _fenced(name: str, texts: Sequence[str]) -> str:
    return "\n".join(f"<{name}>{neutralised(text)}</{name}>" for text in texts if text) or NONE


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
