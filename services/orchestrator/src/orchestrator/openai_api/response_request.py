"""Reads the question from a response request. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contracts.openai_responses import InputItem, ResponseRequest
from orchestrator.openai_api.asking import Followed, OpenAIImage, OpenAIQuestion, SentMessage
from orchestrator.openai_api.chat_request import (
    DEADLINE_SECONDS,
    TASK,
    WHOLE_DEADLINE_SECONDS,
    few_images,
    scope_named,
    session_named,
)
from orchestrator.openai_api.errors import Unsupported
from orchestrator.openai_api.footnotes import without_footnotes
from orchestrator.openai_api.models import Models
from orchestrator.runs.records import RunOptions

REFUSED = {
    "tools": "tools of the caller are not called here",
    "conversation": "name a response with previous_response_id, or a session with metadata.session_id",
    "prompt": "there are no stored prompts",
    "top_logprobs": "there are no log probabilities of checked answers",
}
TEXTS = frozenset({"input_text", "output_text", "text"})


def response_question(body: ResponseRequest, models: Models, followed: Followed | None) -> OpenAIQuestion:
    """Returns the question, after the response `followed`. Raises Unsupported, UnknownOpenAIModel, NothingWrites."""
    _refuse(body)
    instructions, turns = _messages(body)
    question = turns.pop()
    metadata = body.metadata or {}
    session_id = session_named(metadata)
    if session_id is not None and followed is not None:
        raise Unsupported(
            "previous_response_id", "a response follows in its own session: leave metadata.session_id out"
        )
    if body.store is False and (body.background or session_id is not None or followed is not None):
        raise Unsupported("store", "in the background, in a session and behind another response it is kept")
    is_task = "task" in metadata or question.content.lstrip().startswith(TASK)
    options = _options(body, instructions, is_plain=models.is_plain(body.model, is_task))
    deadline = DEADLINE_SECONDS if body.stream or body.background else WHOLE_DEADLINE_SECONDS
    return OpenAIQuestion(question.content, turns, options, deadline, session_id, followed, images=question.images)


def _options(body: ResponseRequest, instructions: str, *, is_plain: bool) -> RunOptions:
    options = RunOptions(model=body.model)
    if is_plain:
        options["plain"] = True
    if (scope := scope_named(body.metadata or {})) is not None:
        options["rag_scope"] = scope
    if body.store is False:
        options["forgotten"] = options["ephemeral"] = True
    if instructions:
        options["instructions"] = instructions
    if body.temperature is not None:
        options["temperature"] = body.temperature
    if body.max_output_tokens:
        options["max_tokens"] = body.max_output_tokens
    if body.metadata:
        options["metadata"] = dict(body.metadata)
    if body.background:
        options["background"] = True
    if body.previous_response_id:
        options["previous"] = body.previous_response_id
    return options


def _refuse(body: ResponseRequest) -> None:
    more = body.model_extra or {}
    for name, reason in REFUSED.items():
        if more.get(name):
            raise Unsupported(name, reason)
    form = (more.get("text") or {}).get("format") if isinstance(more.get("text") or {}, dict) else "other"
    if form and not (isinstance(form, dict) and form.get("type") == "text"):
        raise Unsupported("text.format", "answers are written in Markdown")


def _messages(body: ResponseRequest) -> tuple[str, list[SentMessage]]:
    """Returns the instructions, and the messages, the last of which is the question."""
    instructions = [body.instructions or ""]
    items = [InputItem(role="user", content=body.input)] if isinstance(body.input, str) else body.input
    turns: list[SentMessage] = []
    for at, item in enumerate(items):
        text = _text(item, at).strip()
        if item.role in ("system", "developer"):
            instructions.append(text)
        elif item.role == "user":
            turns.append(SentMessage("user", text, _images(item, at)))
        else:
            turns.append(SentMessage("assistant", without_footnotes(text)))
    if not turns or items[-1].role != "user" or not turns[-1].content:
        raise Unsupported(_place(body.input, len(items) - 1), "the last message must be the user's, and say something")
    return "\n\n".join(filter(None, instructions)), [turn for turn in turns if turn.content]


def _place(given: str | Sequence[Any], at: int) -> str:
    return "input" if isinstance(given, str) else f"input.{at}"


def _text(item: InputItem, at: int) -> str:
    if item.type != "message" or item.role is None:
        raise Unsupported(f"input.{at}.type", "messages alone are read")
    if not isinstance(item.content, list):
        return item.content or ""
    for number, part in enumerate(item.content):
        shown = part.type == "input_image" and item.role == "user"
        if not shown and (part.type not in TEXTS or part.text is None):
            raise Unsupported(f"input.{at}.content.{number}", "messages are texts, and the user's images as well")
    return "\n".join(part.text or "" for part in item.content if part.type in TEXTS)


def _images(item: InputItem, at: int) -> list[OpenAIImage]:
    """Raises Unsupported."""
    if not isinstance(item.content, list):
        return []
    return few_images(
        [
            (f"input.{at}.content.{number}.image_url", part.image_url)
            for number, part in enumerate(item.content)
            if part.type == "input_image"
        ]
    )
