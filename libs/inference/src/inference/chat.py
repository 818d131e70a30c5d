"""The port for chat models."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of the conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ChatDelta:
    """A piece of the answer, or of the model's thinking before it."""

    text: str = ""
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class AnswerSchema:
    """The structure of an answer, as JSON Schema. Not every provider enforces it: validate the answer."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Completion:
    """A whole answer without the thinking. `usage` is None if the provider does not report it; `cut_short`: the token
    limit ended it."""

    text: str
    usage: Usage | None = None
    cut_short: bool = False


class StructuredChatModel(Protocol):
    """Answers in a given structure."""

    @property
    def model(self) -> str: ...

    async def complete_structured(
        self, messages: Sequence[ChatMessage], schema: AnswerSchema, *, max_tokens: int, temperature: float = 0.0
    ) -> Completion:
        """Returns the whole answer. Raises ChatError; StreamCut if it broke off after its beginning."""
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
        """Yields the answer as it is written. A caller that stops early closes it (`contextlib.aclosing`).

        `max_tokens` limits the answer; None takes the configured limit. Raises ChatError; StreamCut if the answer
        broke off.
        """
        ...

    async def complete(
        self, messages: Sequence[ChatMessage], *, max_tokens: int | None = None, temperature: float = 0.2
    ) -> str:
        """Returns the whole answer without the thinking. Raises ChatError."""
        ...

    async def list_models(self) -> list[str]:
        """Returns the names of the provider's models. Raises ChatError."""
        ...

    async def aclose(self) -> None:
        """Closes the connections."""
        ...
