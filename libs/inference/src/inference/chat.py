"""The port for chat models."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol


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
