"""Code that the actions share: prompts, proposals, and the handling of soft failures."""

from __future__ import annotations

import re
from functools import wraps
from typing import Any, Literal, cast

from langgraph.runtime import Runtime

from contracts.artifact_actions import ArtifactAction
from contracts.run_events import ProviderIssue
from inference.chat import ChatMessage
from inference.estimate import estimated_prompt_tokens
from inference.role_chat import RoleChat
from orchestrator.errors import ArtifactOpsError
from orchestrator.graphs.artifact_ops.prompting import document
from orchestrator.graphs.artifact_ops.recovery import NOTHING_CHANGED, RECOVERY, SoftFailure, model_failed
from orchestrator.graphs.artifact_ops.sections import in_sections
from orchestrator.graphs.artifact_ops.sources import ArtifactSources
from orchestrator.graphs.artifact_ops.state import ActionState
from orchestrator.graphs.artifact_ops.writing import (
    ArtifactWriting,
    SectionRequest,
    Written,
    check_room,
    has_room,
    model_of,
)
from orchestrator.graphs.conversation.budgets import prompt_room
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.passages import fitting, numbered, remembered
from orchestrator.graphs.conversation.state import ArtifactInTurn, FoundChunk, Proposed
from orchestrator.graphs.stages import Node

LONGEST_TITLE = 200
IN_SECTIONS = "the artifact is too long for the chat model to read at once: it was rewritten in {count} sections"
TOLD_SECTIONS = "It is too long for the chat model to read at once, so I did it section by section ({count})."
CUT = "It was cut short ({reason}), so it is kept as a version of its own, and the current one is as it was."
UNCITED = "{count} citation markers were left out, as their sources do not say what the text says there."
_HEADING = re.compile(r"^#{1,6} +(\S[^\n]{0,300})", re.MULTILINE)


def soft(node: Node[Any, ConversationContext]) -> Node[Any, ConversationContext]:
    """Wraps the node so that its soft failures become answers."""

    @wraps(node)
    async def recovering(state: Any, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
        try:
            return await node(state, runtime)
        except SoftFailure as failure:
            if failure.issue:
                runtime.context.events.emit(ProviderIssue(message=failure.issue))
            return {
                "next": RECOVERY,
                "artifact_action_recovery_message": str(failure),
                "issues": [failure.issue] if failure.issue else [],
                "steps_executed": ["Changed nothing in the artifact"],
            }

    return recovering


def artifact_of(state: ActionState) -> ArtifactInTurn:
    """Returns the artifact. Raises ArtifactOpsError without one, which the dispatch rules out."""
    if state["artifact"] is None:
        raise ArtifactOpsError("an action that needs an artifact has none")
    return state["artifact"]


def wish_of(state: ActionState) -> str:
    """Returns the user's message."""
    return next(
        turn["content"]
        for turn in reversed(state["internal_messages"])
        if turn["id"] != state["answer_id"] and turn["role"] == "user"
    )


async def passages_that_fit(
    chat: RoleChat, context: ConversationContext, passages: list[FoundChunk], bare: list[ChatMessage], text: str
) -> list[FoundChunk]:
    """Returns the passages that fit the window with the rest. Raises SoftFailure if the rest alone is too long."""
    await check_room(chat, bare, text)
    room = prompt_room(await chat.window()) - estimated_prompt_tokens(bare)
    most = min(context.limits.passage_tokens, max(room, 0))
    return list(fitting(passages, most)) if most else []


async def rewritten(
    state: ActionState,
    context: ConversationContext,
    wish: str,
    done: str,
    *,
    with_passages: bool = True,
    history: list[ChatMessage] | None = None,
    sectioned: bool = True,
) -> dict[str, Any]:
    """Rewrites the whole artifact according to a wish, section by section if it is too long for the model.

    Raises SoftFailure, BudgetExceeded.
    """
    artifact, chat = artifact_of(state), model_of(context)
    issues = list[str]()
    profile = await context.profile.text(issues)
    code = artifact["kind"] == "code"

    def messages(sources: ArtifactSources, text: str, part: str = "") -> list[ChatMessage]:
        prompt = context.artifact_prompts.render(
            "rewrite_code" if code else "rewrite_text",
            now=context.clock.description,
            part=part,
            document=document(artifact["title"], text),
            passages=numbered(sources.chunks),
            profile=profile,
            memories=remembered(state["memories"]),
        )
        return [ChatMessage("system", prompt), *(history or []), ChatMessage("user", wish)]

    text, passages = artifact["text"], state["passages"] if with_passages else []
    bare = messages(ArtifactSources.of(artifact["citations"], [], context.alike), text)
    if sectioned and not await has_room(chat, bare, text):
        requests, passages = await in_sections(chat, context, artifact, passages, messages)
        issues.append(IN_SECTIONS.format(count=len(requests)))
        context.events.emit(ProviderIssue(message=issues[-1]))
        done = f"{done} {TOLD_SECTIONS.format(count=len(requests))}"
        sources = ArtifactSources.of(artifact["citations"], passages, context.alike)
    else:
        passages = await passages_that_fit(chat, context, passages, bare, text)
        sources = ArtifactSources.of(artifact["citations"], passages, context.alike)
        requests = [SectionRequest(messages(sources, text))]
    action = ArtifactAction(state["artifact_action"] or "")
    written = await ArtifactWriting(context, sources, action, code).write(chat, requests)
    if written.text.strip() == artifact["text"].strip():
        raise model_failed(NOTHING_CHANGED)
    language = (written.language or artifact["language"]) if code else None
    title = heading(written.text, code=code) or artifact["title"]
    written.issues[:0] = issues
    return proposing(artifact, "rewrite", written, done, language=language, title=title)


def proposing(
    artifact: ArtifactInTurn | None,
    event: Literal["create", "rewrite"],
    written: Written,
    done: str,
    *,
    language: str | None,
    title: str | None,
    kind: str | None = None,
) -> dict[str, Any]:
    """Returns the state update for a new text."""
    paragraphs = [done]
    if written.failure:
        paragraphs = [CUT.format(reason=written.failure)]
    if written.removed:
        paragraphs.append(UNCITED.format(count=written.removed))
    issues = [f"the artifact was cut short: {written.failure}"] if written.failure else []
    proposed = Proposed(
        event=event,
        base_index=artifact["index"] if artifact else None,
        kind=cast(Literal["markdown", "code"], kind or (artifact["kind"] if artifact else "markdown")),
        language=language,
        title=title,
        text=written.text,
        citations=cast("list[dict[str, Any]]", written.citations),
        done=" ".join(paragraphs),
        cut_short=bool(written.failure),
    )
    return {
        "proposal": proposed,
        "mode": "model",
        "issues": [*written.issues, *issues],
        "steps_executed": [f"Wrote {len(written.text)} characters of the artifact"],
    }


def changed_in_places(
    artifact: ArtifactInTurn, event: Literal["update", "patch"], text: str, citations: list[dict[str, Any]], done: str
) -> dict[str, Any]:
    """Returns the state update for changes in some places."""
    proposed = Proposed(
        event=event,
        base_index=artifact["index"],
        kind=cast(Literal["markdown", "code"], artifact["kind"]),
        language=artifact["language"],
        title=artifact["title"],
        text=text,
        citations=citations,
        done=done,
        cut_short=False,
    )
    return {"proposal": proposed, "mode": "model", "steps_executed": [done]}


def heading(text: str, *, code: bool) -> str | None:
    """Returns the first heading of a text; code has none."""
    found = None if code else _HEADING.search(text)
    return found[1].rstrip("# ").strip()[:LONGEST_TITLE] or None if found else None
