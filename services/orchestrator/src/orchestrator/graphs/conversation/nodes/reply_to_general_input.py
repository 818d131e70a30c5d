"""Writes the answer: by the chat model from the passages, by the graph, or by quoting the passages."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypedDict

from langgraph.runtime import Runtime

from contracts.fixed_answers import COURTESY, NOT_WITHOUT_DOCUMENTS, NOTHING_FOUND, SEARCH_FAILED
from contracts.prompt_fence import attribute, neutralising
from contracts.run_events import MessageDelta, ProviderIssue
from inference.chat import ChatMessage
from inference.errors import CallRefused, ModelCannot, ProviderRejected
from inference.estimate import TOKENS_OF_AN_IMAGE, estimated_prompt_tokens, estimated_tokens
from inference.role_chat import RoleChat
from orchestrator.artifacts.outline import outlined
from orchestrator.citations.support import CitedSpan
from orchestrator.errors import BudgetExceeded
from orchestrator.graphs.conversation.budgets import prompt_room, shared_room, sizes_within
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.images_in_view import WITHOUT_IMAGES, any_images, with_images
from orchestrator.graphs.conversation.model_writing import CUT_ISSUE, ModelWriting
from orchestrator.graphs.conversation.passages import condensed, fitting, numbered, quoted, remembered
from orchestrator.graphs.conversation.state import FoundChunk, GraphAnswer, RememberedAnswer, Turn
from orchestrator.runs.events import RunEvents
from orchestrator.runs.records import RunOptions
from relevance.german import language_of
from service_kit.problems import Unavailable

SEEN_TOKENS = 2_000
neutralised = neutralising("document", "passage", "memory", "summary")

STEPS = {"model": "Wrote the answer with the chat model", "extractive": "Answered without a chat model"}
NOTICES = {"nothing": NOTHING_FOUND, "failed": SEARCH_FAILED}


@dataclass(frozen=True)
class Reply:
    """An answer with the citations that it claims; `incomplete`: it broke off or was cut."""

    content: str
    mode: Literal["model", "extractive"]
    cited: list[CitedSpan]
    removed: int
    issues: list[str]
    incomplete: bool = False


class ModelChoices(TypedDict, total=False):
    """Parameters of `ChatModel.stream`."""

    temperature: float
    max_tokens: int


class AnswerableTurn(TypedDict):
    """What the node reads."""

    internal_messages: list[Turn]
    answer_id: str
    artifact_action_recovery_message: str | None
    world_told: str | None
    search: Literal["found", "nothing", "failed", "off"] | None
    passages: list[FoundChunk]
    memories: list[str]
    remembered: RememberedAnswer | None
    structure: GraphAnswer | None


async def reply_to_general_input(state: AnswerableTurn, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Answers with quotations if the chat model fails for good, and reports the failure.

    If an artifact action failed, its recovery message is the answer; for a change of the world state it is the text of
    the previous node, word for word.
    """
    context = runtime.context
    if recovery := state["artifact_action_recovery_message"]:
        return _word_for_word(state, recovery, context.events, "Said why nothing was changed")
    if statement := state["world_told"]:
        return _word_for_word(state, statement, context.events, "Told of the world state")
    chat = context.models.of("answer")
    reply = _quote(state, context.events, []) if chat is None else await _ask(state, context, chat)
    return {
        "internal_messages": [Turn(id=state["answer_id"], role="assistant", content=reply.content)],
        "mode": reply.mode,
        "incomplete": reply.incomplete,
        "cited": [asdict(cited) for cited in reply.cited],
        "removed_citations": reply.removed,
        "issues": reply.issues,
        "steps_executed": [STEPS[reply.mode]],
    }


def _word_for_word(state: AnswerableTurn, message: str, events: RunEvents, step: str) -> dict[str, Any]:
    events.emit(MessageDelta(text=message))
    return {
        "internal_messages": [Turn(id=state["answer_id"], role="assistant", content=message)],
        "mode": "extractive",
        "steps_executed": [step],
    }


async def _ask(state: AnswerableTurn, context: ConversationContext, chat: RoleChat) -> Reply:
    """Asks the model, and keeps what it wrote if it breaks off. Raises BudgetExceeded.

    Images that were shown stay visible to the model of the role `vision` as long as they fit into the history.
    """
    issues: list[str] = []
    if not context.options.get("use_history", True):
        state = {**state, "internal_messages": question_alone(state["internal_messages"], state["answer_id"])}
    profile = await context.profile.text(issues)
    writing = await _seen(state, context, profile, issues)
    if writing is None:
        passages, messages = _prompt(state, context, profile, *_room(state, context, profile, await chat.window()))
        writing = await _written(chat, messages, passages, context, _notice(state), issues)
    if writing.is_written:
        if writing.failure is not None:
            issues.append(f"the chat model broke off, so the answer is incomplete: {writing.failure}")
            context.events.emit(ProviderIssue(message=issues[-1]))
        elif writing.is_cut:
            issues.append(CUT_ISSUE)
            context.events.emit(ProviderIssue(message=CUT_ISSUE))
        markers = writing.markers
        incomplete = writing.failure is not None or writing.is_cut
        return Reply(writing.content, "model", markers.cited, markers.removed, issues, incomplete)
    reason = f"failed, so the answer quotes the documents instead: {writing.failure}"
    if writing.failure is None:
        reason = "gave no answer, so the answer quotes the documents instead"
    issues.append(f"the chat model {reason}")
    context.events.emit(ProviderIssue(message=issues[-1]))
    writing.void()
    return _quote(state, context.events, issues)


async def _seen(
    state: AnswerableTurn, context: ConversationContext, profile: str, issues: list[str]
) -> ModelWriting | None:
    """Returns the answer of a vision model that sees the history's images; None without images or model."""
    chat = context.models.of("vision")
    if chat is None or not any_images(state["internal_messages"]):
        return None
    passage_tokens, history_tokens = _room(state, context, profile, await chat.window())
    turns = kept_turns(state["internal_messages"], state["answer_id"], history_tokens, TOKENS_OF_AN_IMAGE)
    if not any_images(turns):
        return None
    passages, (system, *_) = _prompt(state, context, profile, passage_tokens, 0, sees=True)
    notice = "" if state["search"] == "nothing" else _notice(state)
    try:
        messages = [system, *await with_images(turns, context)]
    except Unavailable as error:
        _note_unseen(error, context, issues)
        return None
    writing = await _written(chat, messages, passages, context, notice, issues)
    if isinstance(writing.failure, (ModelCannot, ProviderRejected)) and not writing.is_written:
        writing.void()
        _note_unseen(writing.failure, context, issues)
        return None
    return writing


def _note_unseen(reason: Exception, context: ConversationContext, issues: list[str]) -> None:
    issues.append(f"{WITHOUT_IMAGES}: {reason}")
    context.events.emit(ProviderIssue(message=issues[-1]))


async def _written(
    chat: RoleChat,
    messages: Sequence[ChatMessage],
    passages: Sequence[FoundChunk],
    context: ConversationContext,
    notice: str,
    issues: list[str],
) -> ModelWriting:
    """Raises BudgetExceeded."""
    async with aclosing(chat.stream(messages, **chosen(context.options))) as deltas:
        restarted = True
        while restarted:
            writing = ModelWriting(context, passages, notice, issues=issues)
            try:
                restarted = await writing.take(deltas)
            except CallRefused as refusal:
                raise BudgetExceeded(refusal.detail) from refusal
    return writing


def _room(state: AnswerableTurn, context: ConversationContext, profile: str, window: int) -> tuple[int, int]:
    """Returns how many tokens of the model's window are left for passages and history."""
    _, bare = _prompt({**state, "passages": []}, context, profile, 0, 0)
    room = prompt_room(window) - estimated_prompt_tokens(bare)
    return shared_room(room, context.limits.passage_tokens, context.limits.history_tokens)


def _prompt(
    state: AnswerableTurn,
    context: ConversationContext,
    profile: str,
    passage_tokens: int,
    history_tokens: int,
    *,
    sees: bool = False,
) -> tuple[Sequence[FoundChunk], list[ChatMessage]]:
    """Returns the passages in the prompt, and the whole prompt, the system message first.

    `sees`: the model is shown images of the conversation.
    """
    passages = fitting(state["passages"], passage_tokens)
    situation = "seen" if sees and state["search"] == "nothing" else state["search"] or "courtesy"
    prompt = context.prompts.reply_to_general_input.render(
        now=context.clock.description,
        artifact=_in_view(context, question_alone(state["internal_messages"], state["answer_id"])),
        situation=context.prompts.situations[situation],
        passages=numbered(passages),
        profile=profile,
        memories=remembered(state["memories"]),
        earlier=condensed(state["internal_messages"]),
    )
    if sees:
        prompt = f"{prompt}\n\n{context.prompts.images_in_view.render()}"
    if instructions := context.options.get("instructions"):
        prompt = f"{prompt}\n\n{context.prompts.instructions.render(instructions=instructions)}"
    history = conversation(state["internal_messages"], state["answer_id"], history_tokens)
    return passages, [ChatMessage("system", prompt), *history]


def _in_view(context: ConversationContext, turns_in_view: Sequence[Turn]) -> str:
    """Returns the artifact for the prompt; if it is long, only the parts that the question may be about."""
    artifact = context.artifact
    if artifact is None or not artifact["text"]:
        return ""
    text = outlined(artifact["text"], SEEN_TOKENS, " ".join(turn["content"] for turn in turns_in_view)).text
    return context.prompts.artifact_in_view.render(
        title=attribute(artifact["title"] or artifact["kind"]), text=neutralised(text)
    )


def chosen(options: RunOptions) -> ModelChoices:
    """Returns the caller's choice of sampling parameters."""
    choices = ModelChoices()
    if "temperature" in options:
        choices["temperature"] = options["temperature"]
    if "max_tokens" in options:
        choices["max_tokens"] = options["max_tokens"]
    return choices


def conversation(turns: Sequence[Turn], answer_id: str, tokens: int) -> list[ChatMessage]:
    """Returns as much of the latest history as fits, followed by the question."""
    history = kept_turns(turns, answer_id, tokens)
    return [ChatMessage(turn["role"], turn["content"]) for turn in history if turn["role"] != "summary"]


def kept_turns(turns: Sequence[Turn], answer_id: str, tokens: int, image_tokens: int = 0) -> list[Turn]:
    """Returns as much of the latest history as fits, followed by the question, as turns.

    An image in the history takes `image_tokens`.
    """
    *before, question = (turn for turn in turns if turn["id"] != answer_id)
    newest_first = before[::-1]
    sizes = (estimated_tokens(turn["content"]) + image_tokens * len(turn.get("images", ())) for turn in newest_first)
    kept = newest_first[: sizes_within(sizes, tokens)]
    return [*kept[::-1], question]


def question_alone(turns: Sequence[Turn], answer_id: str) -> list[Turn]:
    """Returns only the message to answer, without the history."""
    return [turn for turn in turns if turn["id"] != answer_id][-1:]


def _quote(state: AnswerableTurn, events: RunEvents, issues: list[str]) -> Reply:
    """Answers without a model: from memory, from the graph, with quotations, or by saying that there is no answer.

    Memory's answers about people other than the asker precede what the documents say, each with its origin.
    """
    shown: list[str] = []
    known = state["remembered"]
    found = state["structure"] or state["passages"]
    if known and not (known.get("alone") and (found or state["search"] == "failed")):
        if known["documents_say"] is None or not found:
            show(events, shown, known["text"])
            return Reply(known["text"], "extractive", [], 0, issues)
        show(events, shown, f"{known['text']}\n\n{known['documents_say']}\n\n")
    if structure := state["structure"]:
        show(events, shown, structure["text"])
        return Reply("".join(shown), "extractive", [CitedSpan(**one) for one in structure["cited"]], 0, issues)
    content, cited = quoted(_question(state), state["passages"])
    for piece in content.splitlines(keepends=True) or [_without_sources(state)]:
        show(events, shown, piece)
    return Reply("".join(shown), "extractive", cited, 0, issues)


def _without_sources(state: AnswerableTurn) -> str:
    language = language_of(_question(state))
    if state["search"] == "off":
        return NOT_WITHOUT_DOCUMENTS[language]
    return COURTESY[language] if state["search"] is None else _notice(state) or NOTHING_FOUND[language]


def _notice(state: AnswerableTurn) -> str:
    """Returns what precedes an answer without passages, in the question's language."""
    notice = NOTICES.get(state["search"] or "")
    return notice[language_of(_question(state))] if notice else ""


def _question(state: AnswerableTurn) -> str:
    return question_alone(state["internal_messages"], state["answer_id"])[0]["content"]


def show(events: RunEvents, shown: list[str], text: str) -> None:
    if text:
        events.emit(MessageDelta(text=text))
        shown.append(text)
