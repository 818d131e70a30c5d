"""Changes only the selected text: the model writes its replacement, and every byte outside it stays."""

from __future__ import annotations

import asyncio
from typing import Any

from langgraph.runtime import Runtime

from inference.chat import ChatMessage
from inference.errors import CallRefused, ChatError
from inference.role_chat import RoleChat
from orchestrator.artifacts.outline import headings
from orchestrator.artifacts.texts import find_span, splice
from orchestrator.errors import BudgetExceeded
from orchestrator.graphs.artifact_ops.fences import leaves_open, without_fence
from orchestrator.graphs.artifact_ops.prompting import neutralised
from orchestrator.graphs.artifact_ops.recovery import (
    LOST_HIGHLIGHT,
    NOTHING_CHANGED,
    UNCLOSED_FENCE,
    SoftFailure,
    model_failed,
)
from orchestrator.graphs.artifact_ops.sources import ArtifactSources
from orchestrator.graphs.artifact_ops.state import ActionState
from orchestrator.graphs.artifact_ops.working import artifact_of, changed_in_places, passages_that_fit, wish_of
from orchestrator.graphs.artifact_ops.writing import model_of
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.passages import numbered, remembered
from orchestrator.graphs.conversation.state import ArtifactInTurn

SURROUNDINGS = 1_500
HEADING_TOKENS = 100  # for the headings before the highlight, and the same for those after it
NOTHING = "(nothing)"
REFUSED = "That leaves a code block open. Answer again with the whole new text of the selected part, all fences closed."
DONE = "I changed the selected text ({before} characters, now {after}) and nothing else."


async def update_highlighted_text(state: ActionState, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Raises SoftFailure, BudgetExceeded."""
    context, artifact = runtime.context, artifact_of(state)
    chat, issues = model_of(context), list[str]()
    profile = await context.profile.text(issues)
    start, end = span_of(artifact, state["artifact_action_params"] or {})
    text, selected = artifact["text"], artifact["text"][start:end]
    near, far = max(0, start - SURROUNDINGS), min(len(text), end + SURROUNDINGS)
    further = f"\n{outline}" if (outline := headings(text[far:], HEADING_TOKENS)) else ""

    def messages(sources: ArtifactSources) -> list[ChatMessage]:
        prompt = context.artifact_prompts.render(
            "update_highlighted_text",
            now=context.clock.description,
            before=neutralised(headings(text[:near], HEADING_TOKENS) + text[near:start]),
            selected=neutralised(selected),
            after=neutralised(text[end:far] + further),
            passages=numbered(sources.chunks),
            profile=profile,
            memories=remembered(state["memories"]),
        )
        return [ChatMessage("system", prompt), ChatMessage("user", wish_of(state))]

    bare = messages(ArtifactSources.of(artifact["citations"], [], context.alike))
    passages = await passages_that_fit(chat, context, state["passages"], bare, selected)
    sources = ArtifactSources.of(artifact["citations"], passages, context.alike)
    written = await _replacement(chat, messages(sources), selected)
    new = list[dict[str, Any]]()
    if artifact["kind"] != "code":
        found = await asyncio.to_thread(sources.spliced, written)
        written, new = found.text, found.citations
    if written == selected:
        raise model_failed(NOTHING_CHANGED)
    changed = splice(text, start, end, written)
    done = DONE.format(before=len(selected), after=len(written))
    return {**changed_in_places(artifact, "patch", changed, sources.of_text(changed, new), done), "issues": issues}


def span_of(artifact: ArtifactInTurn, highlight: dict[str, Any]) -> tuple[int, int]:
    """Returns the current position of the selected text. Raises SoftFailure if it is not known."""
    text = artifact["text"]
    seen = text if highlight["version"] == artifact["index"] else artifact["seen"]
    found = None
    if seen is not None:
        found = find_span(text, seen, highlight["start"], highlight["end"], highlight["text"])
    if found is None:
        raise SoftFailure(LOST_HIGHLIGHT)
    return found


async def _replacement(chat: RoleChat, request_messages: list[ChatMessage], selected: str) -> str:
    """Returns the replacement of the selected text, with the original white space around it."""
    for _ in range(2):
        try:
            completion = await chat.answer(request_messages)
        except CallRefused as refusal:
            raise BudgetExceeded(refusal.detail) from refusal
        except ChatError as error:
            raise model_failed(str(error)) from error
        if completion.cut_short:
            raise model_failed("it reached its limit of tokens")
        written = _fitted(completion.text, selected)
        if leaves_open(written) == leaves_open(selected):
            return written
        request_messages = [*request_messages, ChatMessage("assistant", completion.text), ChatMessage("user", REFUSED)]
    raise model_failed(UNCLOSED_FENCE)


def _fitted(answer: str, selected: str) -> str:
    """Returns the answer without an enclosing fence, unless the selected text has one."""
    body = answer.strip()
    if not selected.lstrip().startswith(("```", "~~~")):
        body = without_fence(body, code=True).strip()
    if body == NOTHING:
        return ""
    bare = selected.strip()
    at = selected.find(bare) if bare else 0
    return selected[:at] + body + selected[at + len(bare) :] if bare else body
