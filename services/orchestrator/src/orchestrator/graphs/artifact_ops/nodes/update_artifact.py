"""Changes some places of the artifact by find-and-replace edits; the rest stays as it is."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict, Field

from contracts.run_events import ProviderIssue
from inference.chat import ChatMessage
from inference.errors import CallRefused, ChatError, StructuredAnswerInvalid
from inference.estimate import estimated_prompt_tokens
from inference.role_chat import RoleChat
from inference.structured import structured
from orchestrator.artifacts.outline import outlined
from orchestrator.artifacts.texts import EditsNotApplicable, apply_edits
from orchestrator.errors import BudgetExceeded
from orchestrator.graphs.artifact_ops.fences import leaves_open
from orchestrator.graphs.artifact_ops.prompting import document
from orchestrator.graphs.artifact_ops.recovery import NOTHING_CHANGED, TOO_LONG, SoftFailure, model_failed
from orchestrator.graphs.artifact_ops.sources import ArtifactSources, CitedPlace
from orchestrator.graphs.artifact_ops.state import ActionState
from orchestrator.graphs.artifact_ops.working import (
    artifact_of,
    changed_in_places,
    passages_that_fit,
    rewritten,
    wish_of,
)
from orchestrator.graphs.artifact_ops.writing import model_of
from orchestrator.graphs.conversation.budgets import prompt_room
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.passages import numbered, remembered

ROUNDS = 2
EDIT_TOKENS = 4_000
REFUSED = "None of the edits was made: {reasons}. Answer with all edits again, corrected."
PARTLY_SEEN = (
    "the artifact is too long for the chat model: it saw {whole} of {parts} parts whole, the others by first lines"
)
OPEN_FENCE = "they leave a code block open that was closed before"
INSTEAD = "The individual edits did not fit the text, so I rewrote the whole document instead."


class PlacedEdit(BaseModel):
    """`find` stands in the document exactly once."""

    model_config = ConfigDict(extra="forbid")

    find: Annotated[str, Field(min_length=1)]
    replace: str


class ArtifactEdits(BaseModel):
    """The edits of one wish."""

    model_config = ConfigDict(extra="forbid")

    edits: Annotated[list[PlacedEdit], Field(min_length=1, max_length=50)]


async def update_artifact(state: ActionState, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Rewrites the whole artifact after two rounds of edits that do not apply. Raises SoftFailure, BudgetExceeded."""
    context, artifact, wish = runtime.context, artifact_of(state), wish_of(state)
    chat, issues = model_of(context), list[str]()
    profile = await context.profile.text(issues)
    seen = ""

    def messages(sources: ArtifactSources) -> list[ChatMessage]:
        prompt = context.artifact_prompts.render(
            "update_artifact",
            now=context.clock.description,
            document=document(artifact["title"], seen),
            passages=numbered(sources.chunks),
            profile=profile,
            memories=remembered(state["memories"]),
        )
        return [ChatMessage("system", prompt), ChatMessage("user", wish)]

    bare = messages(ArtifactSources.of(artifact["citations"], [], context.alike))
    seen = await _seen(chat, context, artifact["text"], wish, bare, issues)
    bare = messages(ArtifactSources.of(artifact["citations"], [], context.alike))
    passages = await passages_that_fit(chat, context, state["passages"], bare, "")
    sources = ArtifactSources.of(artifact["citations"], passages, context.alike)
    found, problem = await _edited(chat, messages(sources), artifact["text"], sources, code=artifact["kind"] == "code")
    if found is None:
        issue = f"the edits of the artifact did not fit, so it was rewritten: {problem}"
        context.events.emit(ProviderIssue(message=issue))
        update = await rewritten(state, context, wish, INSTEAD, sectioned=False)
        return {**update, "issues": [*issues, issue, *update["issues"]]}
    text, citations, count = found
    if text == artifact["text"]:
        raise model_failed(NOTHING_CHANGED)
    places = "one place" if count == 1 else f"{count} places"
    update = changed_in_places(artifact, "update", text, citations, f"I changed the document in {places}.")
    return {**update, "issues": issues}


async def _seen(
    chat: RoleChat, context: ConversationContext, text: str, wish: str, bare: list[ChatMessage], issues: list[str]
) -> str:
    """Returns the part of the text that fits the model; reports if it is not complete. Raises SoftFailure."""
    room = prompt_room(await chat.window()) - estimated_prompt_tokens(bare)
    found = outlined(text, room, wish)
    if not found.is_cut:
        return found.text
    found = outlined(text, room - min(context.limits.passage_tokens, room // 3), wish)
    if not found.whole:
        raise SoftFailure(TOO_LONG)
    issue = PARTLY_SEEN.format(whole=found.whole, parts=found.parts)
    context.events.emit(ProviderIssue(message=issue))
    issues.append(issue)
    return found.text


async def _edited(
    chat: RoleChat, request_messages: list[ChatMessage], text: str, sources: ArtifactSources, *, code: bool
) -> tuple[tuple[str, list[dict[str, Any]], int] | None, str]:
    """Returns the new text with its citations and the number of edits; or None and the reason."""
    problem = ""
    for _ in range(ROUNDS):
        try:
            answer = await structured(chat, request_messages, ArtifactEdits, max_tokens=EDIT_TOKENS)
        except CallRefused as refusal:
            raise BudgetExceeded(refusal.detail) from refusal
        except StructuredAnswerInvalid as error:
            return None, str(error)
        except ChatError as error:
            raise model_failed(str(error)) from error
        edits, new = (answer.edits, []) if code else await asyncio.to_thread(_checked, answer.edits, sources)
        try:
            edited = apply_edits(text, edits)
        except EditsNotApplicable as error:
            problem = str(error)
        else:
            if not leaves_open(edited) or leaves_open(text):
                return (edited, sources.of_text(edited, new), len(edits)), ""
            problem = OPEN_FENCE
        reply = answer.model_dump_json()
        request_messages = [
            *request_messages,
            ChatMessage("assistant", reply),
            ChatMessage("user", REFUSED.format(reasons=problem)),
        ]
    return None, problem


def _checked(edits: list[PlacedEdit], sources: ArtifactSources) -> tuple[list[PlacedEdit], list[dict[str, Any]]]:
    """Returns the edits with checked markers, and the new citations."""
    checked, new, numbers = list[PlacedEdit](), list[dict[str, Any]](), dict[CitedPlace, int]()
    for edit in edits:
        found = sources.spliced(edit.replace, numbers)
        checked.append(PlacedEdit(find=edit.find, replace=found.text))
        new += found.citations
    return checked, new
