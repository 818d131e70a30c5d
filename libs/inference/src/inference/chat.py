"""The port for chat models."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of the conversation that the model is given."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ChatDelta:
    """A piece of the answer, or of the model's thinking before it."""

    text: str = ""
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class AnswerSchema:
    """The form that an answer should have, as JSON Schema. Not every provider holds its model to it: read the answer
    with care."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Completion:
    """A whole answer without the thinking. `usage` is None where the provider does not tell; `cut_short`: the bound of
    tokens ended it."""

    text: str
    usage: Usage | None = None
    cut_short: bool = False


class StructuredChatModel(Protocol):
    """Answers in a form."""

    @property
    def model(self) -> str: ...

    async def complete_structured(
        self, messages: Sequence[ChatMessage], schema: AnswerSchema, *, max_tokens: int, temperature: float = 0.0
    ) -> Completion:
        """The whole answer. Raises ChatError; StreamCut, where the answer had begun and was not asked for again."""
        ...

    async def aclose(self) -> None:
        """Closes the connections."""
        ...


class ChatModel(Protocol):
    """Answers a conversation."""

    @property
    def model(self) -> str: ...

    def stream(
        self, messages: Sequence[ChatMessage], *, max_tokens: int | None = None, temperature: float = 0.2
    ) -> AsyncGenerator[ChatDelta, None]:
        """The answer as it is written. A caller that stops early closes it (`contextlib.aclosing`).

        `max_tokens` bounds the answer; None takes the model's configured bound. Raises ChatError; StreamCut, where
        what came so far is not the whole answer.
        """
        ...

    async def complete(
        self, messages: Sequence[ChatMessage], *, max_tokens: int | None = None, temperature: float = 0.2
    ) -> str:
        """The whole answer without the thinking. Raises ChatError."""
        ...

    async def list_models(self) -> list[str]:
        """The names of the models that the provider offers. Raises ChatError."""
        ...

    async def aclose(self) -> None:
        """Closes the connections."""
        ...
