"""Reads the question from a chat completion request. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args
from uuid import UUID

from contracts.images import MOST_IMAGES
from contracts.openai_api import ChatCompletionRequest, ChatMessageParam
from contracts.workspace_settings import Preset
from orchestrator.openai_api.asking import OpenAIImage, OpenAIQuestion, SentMessage
from orchestrator.openai_api.data_urls import image_of
from orchestrator.openai_api.errors import Unsupported
from orchestrator.openai_api.footnotes import without_footnotes
from orchestrator.openai_api.models import Models
from orchestrator.runs.records import RunOptions, SearchedScope

# How front ends begin their own requests, for a title, tags or follow-up questions.
TASK = "### Task:"
DEADLINE_SECONDS = 600
WHOLE_DEADLINE_SECONDS = 300  # the gateway waits a little longer for the beginning of a response
# Fields that would change the answer but are not supported, each with the reason.
REFUSED = {
    "tools": "tools of the caller are not called here",
    "functions": "functions of the caller are not called here",
    "audio": "answers are texts",
    "logprobs": "there are no log probabilities of checked answers",
    "top_logprobs": "there are no log probabilities of checked answers",
    "stop": "stop sequences are not looked for",
    "prediction": "predicted output is not used",
}
MODALITIES = "answers are texts"


def question_of(body: ChatCompletionRequest, models: Models) -> OpenAIQuestion:
    """Returns the question. Raises Unsupported, UnknownOpenAIModel, NothingWrites."""
    _refuse(body)
    instructions, turns = _split(body.messages)
    question = turns.pop()
    metadata = body.metadata or {}
    plain = models.is_plain(body.model, "task" in metadata or question.content.lstrip().startswith(TASK))
    options = RunOptions(model=body.model)
    session_id = session_named(metadata)
    if session_id is None:
        options["ephemeral"] = True
    if plain:
        options["plain"] = True
    if (scope := scope_named(metadata)) is not None:
        options["rag_scope"] = scope
    if instructions:
        options["instructions"] = instructions
    if body.temperature is not None:
        options["temperature"] = body.temperature
    if most := body.max_completion_tokens or body.max_tokens:
        options["max_tokens"] = most
    deadline = DEADLINE_SECONDS if body.stream else WHOLE_DEADLINE_SECONDS
    return OpenAIQuestion(question.content, turns, options, deadline, session_id, images=question.images)


def wants_footnotes(metadata: Mapping[str, Any] | None, preset: Preset | None) -> bool:
    """Returns whether the answer's text ends with its sources: as `metadata.footnotes` says, otherwise the preset."""
    footnotes = (metadata or {}).get("footnotes")
    if footnotes is not None:
        return str(footnotes).lower() != "false"
    return preset is None or preset.footnotes is not False


def _refuse(body: ChatCompletionRequest) -> None:
    more = body.model_extra or {}
    for name, reason in REFUSED.items():
        if more.get(name):
            raise Unsupported(name, reason)
    if body.n not in (None, 1):
        raise Unsupported("n", "there is one answer to a question")
    if more.get("modalities") not in (None, ["text"]):
        raise Unsupported("modalities", MODALITIES)
    form = more.get("response_format")
    if form and not (isinstance(form, dict) and form.get("type") == "text"):
        raise Unsupported("response_format", "answers are written in Markdown")


def _split(messages: Sequence[ChatMessageParam]) -> tuple[str, list[SentMessage]]:
    """Returns the system and developer texts, and the messages, the last of which is the question."""
    instructions: list[str] = []
    turns: list[SentMessage] = []
    for at, message in enumerate(messages):
        text = _text(message, at).strip()
        if message.role in ("system", "developer"):
            instructions.append(text)
        elif message.role == "user":
            turns.append(SentMessage("user", text, _images(message, at)))
        elif message.role == "assistant":
            turns.append(SentMessage("assistant", without_footnotes(text)))
        else:
            raise Unsupported(f"messages.{at}.role", "tools of the caller are not called here")
    last = len(messages) - 1
    if not turns or turns[-1].role != "user" or messages[-1].role != "user" or not turns[-1].content:
        raise Unsupported(f"messages.{last}", "the last message must be the user's, and say something")
    return "\n\n".join(filter(None, instructions)), [turn for turn in turns if turn.content]


def _text(message: ChatMessageParam, at: int) -> str:
    if not isinstance(message.content, list):
        return message.content or ""
    for number, part in enumerate(message.content):
        shown = part.type == "image_url" and message.role == "user"
        if not shown and (part.type != "text" or part.text is None):
            raise Unsupported(f"messages.{at}.content.{number}", "messages are texts, and the user's images as well")
    return "\n".join(part.text or "" for part in message.content if part.type == "text")


def _images(message: ChatMessageParam, at: int) -> list[OpenAIImage]:
    """Raises Unsupported."""
    if not isinstance(message.content, list):
        return []
    return few_images(
        [
            (f"messages.{at}.content.{number}.image_url", part.image_url)
            for number, part in enumerate(message.content)
            if part.type == "image_url"
        ]
    )


def few_images(given: Sequence[tuple[str, object]]) -> list[OpenAIImage]:
    """Returns the images of a message, given with their locations. Raises Unsupported."""
    if len(given) > MOST_IMAGES:
        raise Unsupported(given[MOST_IMAGES][0], f"a message shows at most {MOST_IMAGES} images")
    return [OpenAIImage(param, image_of(url, param)) for param, url in given]


def session_named(metadata: Mapping[str, Any]) -> UUID | None:
    """Returns the session that `metadata.session_id` names. Raises Unsupported."""
    given = metadata.get("session_id")
    if given is None:
        return None
    try:
        return UUID(given)
    except (ValueError, AttributeError, TypeError):
        raise Unsupported("metadata.session_id", "it is not the id of a session") from None


def scope_named(metadata: Mapping[str, Any]) -> SearchedScope | None:
    """Returns the scope that `metadata.rag_scope` names. Raises Unsupported."""
    given = metadata.get("rag_scope")
    scopes: tuple[SearchedScope, ...] = get_args(SearchedScope)
    if given is not None and given not in scopes:
        raise Unsupported("metadata.rag_scope", f"it is one of: {', '.join(scopes)}")
    return next((scope for scope in scopes if scope == given), None)
