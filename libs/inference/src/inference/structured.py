"""Structured answers: a pydantic model in, an object out."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from inference.chat import AnswerSchema, ChatDelta, ChatMessage
from inference.errors import StructuredAnswerInvalid
from inference.openai_chat import completion

Answer = TypeVar("Answer", bound=BaseModel)
MOST_TOKENS = 1_000
LONGEST_REPORT = 1_000
ASK = (
    "Answer with one JSON object and nothing else: no code fence, no explanation. "
    "It must be valid against this JSON Schema:\n"
)
REPAIR = "That was not valid: {errors}. Answer again with the corrected JSON object alone."


class AsksForStructure(Protocol):
    """A chat model that streams an answer to a request with a JSON schema."""

    def stream_structured(
        self,
        messages: Sequence[ChatMessage],
        schema: AnswerSchema,
        *,
        max_tokens: int | None = None,
        temperature: float = 0.0,
    ) -> AsyncGenerator[ChatDelta, None]: ...


async def structured(
    chat: AsksForStructure,
    messages: Sequence[ChatMessage],
    answer: type[Answer],
    *,
    max_tokens: int = MOST_TOKENS,
) -> Answer:
    """Returns the model's answer as an object of the class `answer`.

    The schema goes into the request (`response_format`) and into the prompt, because Ollama does not show it to the
    model. An invalid answer is reported to the model once. Raises StructuredAnswerInvalid if the second answer is
    invalid, too, and ChatError.
    """
    schema = AnswerSchema(answer.__name__, answer.model_json_schema())
    conversation = [*messages, ChatMessage("system", ASK + json.dumps(schema.schema, ensure_ascii=False))]
    text = await _text(chat, conversation, schema, max_tokens)
    try:
        return _read(text, answer)
    except ValidationError as error:
        problem = _report(error)
    conversation += [ChatMessage("assistant", text), ChatMessage("user", REPAIR.format(errors=problem))]
    text = await _text(chat, conversation, schema, max_tokens)
    try:
        return _read(text, answer)
    except ValidationError as error:
        raise StructuredAnswerInvalid(f"{answer.__name__}: {_report(error)}") from None


async def _text(chat: AsksForStructure, messages: Sequence[ChatMessage], schema: AnswerSchema, max_tokens: int) -> str:
    conversation = chat.stream_structured(messages, schema, max_tokens=max_tokens, temperature=0.0)
    async with aclosing(conversation) as deltas:
        return (await completion(deltas)).text


def _read(text: str, answer: type[Answer]) -> Answer:
    """Parses the outermost object in the text: models like to put a fence or a sentence around it."""
    start, end = text.find("{"), text.rfind("}")
    return answer.model_validate_json(text[start : end + 1] if 0 <= start < end else text)


def _report(error: ValidationError) -> str:
    """Describes what is wrong and where, without the values."""
    wrong = (f"{'.'.join(map(str, one['loc'])) or 'the answer'}: {one['msg']}" for one in error.errors())
    return "; ".join(wrong)[:LONGEST_REPORT]
