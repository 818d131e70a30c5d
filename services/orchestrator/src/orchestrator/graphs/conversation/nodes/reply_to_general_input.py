"""Writes the answer: by the chat model from the passages, by the graph, or by quoting the passages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypedDict

from langgraph.runtime import Runtime

from contracts.events import MessageDelta, MessageRestarted, ProviderIssue, ThinkingDelta
from inference.chat import ChatDelta, ChatMessage, ChatModel
from inference.errors import ChatError
from orchestrator.citations.check import MarkerFilter
from orchestrator.citations.support import CitedSpan
from orchestrator.graphs.conversation.budgets import within_budget
from orchestrator.graphs.conversation.context import ConversationContext, WrittenSoFar
from orchestrator.graphs.conversation.passages import condensed, fitting, numbered, quoted, remembered, sources_of
from orchestrator.graphs.conversation.sentence_checks import SentenceChecks
from orchestrator.graphs.conversation.state import FoundChunk, GraphAnswer, Turn
from orchestrator.runs.events import RunEvents
from orchestrator.runs.records import RunOptions

COURTESY = "At your service: ask me anything about the documents of this workspace."
NOTHING_FOUND = "I found nothing relevant to this in the documents."
SEARCH_FAILED = "I could not search the documents just now, so this answer uses no sources."

STEPS = {"model": "Wrote the answer with the chat model", "extractive": "Answered without a chat model"}
NOTICES = {None: "", "found": "", "nothing": NOTHING_FOUND, "failed": SEARCH_FAILED}

CLOSES = frozenset("]】")  # the end of a marker


@dataclass(frozen=True)
class Reply:
    """An answer with the citations that it claims."""

    content: str
    mode: Literal["model", "extractive"]
    cited: list[CitedSpan]
    removed: int
    issues: list[str]


class ModelChoices(TypedDict, total=False):
    """Parameters of `ChatModel.stream`."""

    temperature: float
    max_tokens: int


class AnswerableTurn(TypedDict):
    """What the node reads."""

    internal_messages: list[Turn]
    question: str
    answer_id: str
    search: Literal["found", "nothing", "failed"] | None
    passages: list[FoundChunk]
    memories: list[str]
    remembered: str | None
    structure: GraphAnswer | None


async def reply_to_general_input(state: AnswerableTurn, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Answers by quotations if the chat model fails for good, and reports the failure."""
    context = runtime.context
    if context.chat is None:
        reply = _quote(state, context.events, [])
    else:
        reply = await _ask(state, context, context.chat)
    return {
        "internal_messages": [Turn(id=state["answer_id"], role="assistant", content=reply.content)],
        "mode": reply.mode,
        "cited": [asdict(cited) for cited in reply.cited],
        "removed_citations": reply.removed,
        "issues": reply.issues,
        "steps_executed": [STEPS[reply.mode]],
    }


async def _ask(state: AnswerableTurn, context: ConversationContext, chat: ChatModel) -> Reply:
    passages = fitting(state["passages"], context.limits.passage_tokens)
    markers = MarkerFilter(sources_of(passages, context.alike))
    prompt = context.prompts.reply_to_general_input.render(
        situation=context.prompts.situations[state["search"] or "courtesy"],
        passages=numbered(passages),
        memories=remembered(state["memories"]),
        earlier=condensed(state["internal_messages"]),
    )
    if instructions := context.options.get("instructions"):
        prompt = f"{prompt}\n\n{context.prompts.instructions.render(instructions=instructions)}"
    said = conversation(state["internal_messages"], state["answer_id"], context.limits.history_tokens)
    messages = [ChatMessage("system", prompt), *said]
    context.draft = WrittenSoFar("model", cited=markers.cited, passages=passages)
    shown = context.draft.shown
    show(context.events, shown, f"{notice}\n\n" if (notice := NOTICES[state["search"]]) else "")
    opening = len(shown)
    checks = SentenceChecks(markers, passages, context.events, len("".join(shown)))
    try:
        async with checks, aclosing(chat.stream(messages, **chosen(context.options))) as deltas:
            async for text in answer_text(deltas, context.events):
                show(context.events, shown, piece := await _filtered(markers, text))
                checks.take(piece)
            show(context.events, shown, piece := markers.end())
            checks.take(piece)
            await checks.end()
    except ChatError as error:
        issue = f"the chat model failed, so the answer quotes the documents instead: {error}"
    else:
        if "".join(shown[opening:]).strip():
            return Reply("".join(shown), "model", markers.cited, markers.removed, [])
        issue = "the chat model gave no answer, so the answer quotes the documents instead"
    context.events.emit(ProviderIssue(message=issue))
    if shown:
        context.events.emit(MessageRestarted())
        context.draft = WrittenSoFar()
    return _quote(state, context.events, [issue])


async def _filtered(markers: MarkerFilter, text: str) -> str:
    """Returns what may be shown by now; what a marker stands for is looked up off the event loop."""
    return await asyncio.to_thread(markers.feed, text) if CLOSES.intersection(text) else markers.feed(text)


def chosen(options: RunOptions) -> ModelChoices:
    """Returns what the caller chose of how a model writes."""
    choices = ModelChoices()
    if "temperature" in options:
        choices["temperature"] = options["temperature"]
    if "max_tokens" in options:
        choices["max_tokens"] = options["max_tokens"]
    return choices


async def answer_text(deltas: AsyncIterator[ChatDelta], events: RunEvents) -> AsyncIterator[str]:
    """Yields the answer; the thinking becomes events of its own."""
    async for delta in deltas:
        if delta.thinking:
            events.emit(ThinkingDelta(text=delta.thinking))
        if delta.text:
            yield delta.text


def conversation(turns: Sequence[Turn], answer_id: str, tokens: int) -> list[ChatMessage]:
    """Returns as much of the newest history as fits, then the question."""
    *before, question = (turn for turn in turns if turn["id"] != answer_id)
    newest_first = before[::-1]
    kept = newest_first[: within_budget([turn["content"] for turn in newest_first], tokens)]
    return [ChatMessage(turn["role"], turn["content"]) for turn in [*kept[::-1], question] if turn["role"] != "summary"]


def _quote(state: AnswerableTurn, events: RunEvents, issues: list[str]) -> Reply:
    """Answers without a model: as the graph does, from memory, by quotations, or by saying that there is none."""
    if structure := state["structure"]:
        events.emit(MessageDelta(text=structure["text"]))
        return Reply(structure["text"], "extractive", [CitedSpan(**one) for one in structure["cited"]], 0, issues)
    if remembered := state["remembered"]:
        events.emit(MessageDelta(text=remembered))
        return Reply(remembered, "extractive", [], 0, issues)
    content, cited = quoted(state["question"], state["passages"])
    shown: list[str] = []
    for piece in content.splitlines(keepends=True) or [_without_sources(state)]:
        show(events, shown, piece)
    return Reply("".join(shown), "extractive", cited, 0, issues)


def _without_sources(state: AnswerableTurn) -> str:
    return COURTESY if state["search"] is None else NOTICES[state["search"]] or NOTHING_FOUND


def show(events: RunEvents, shown: list[str], text: str) -> None:
    if text:
        events.emit(MessageDelta(text=text))
        shown.append(text)
