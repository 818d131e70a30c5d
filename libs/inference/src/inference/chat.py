"""The port for chat models."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text in a message that also has images."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """The bytes of an image. Only the adapter converts them to base64."""

    media_type: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model asks for; `arguments` is JSON as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a model may call; `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of the conversation. A message of the role `tool` is the result of the call `tool_call_id`."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | Sequence[TextPart | ImagePart]
    tool_calls: Sequence[ToolCall] = ()
    tool_call_id: str | None = None

    @property
    def has_images(self) -> bool:
        return not isinstance(self.content, str) and any(isinstance(part, ImagePart) for part in self.content)

    @property
    def text(self) -> str:
        """Returns all of its text, without the images."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if isinstance(part, TextPart))


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A piece of the call at `index`. The first piece has id and name; `arguments` come in pieces to be joined."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class AnswerSchema:
    """The structure of an answer, as JSON Schema. Not every provider enforces it: validate the answer."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them; `cost` is in its currency, if it reports one.

    `cached_tokens` are part of the input, `thinking_tokens` part of the output.
    """

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    thinking_tokens: int = 0
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class ChatDelta:
    """A piece of the answer, of the thinking before it, or of a call; the last one says how it ended.

    `issue` is for the user: another model was asked, or the prompt was cut. `restarted`: discard what was yielded so
    far, the answer starts over.
    """

    text: str = ""
    thinking: str = ""
    tool_calls: tuple[ToolCallDelta, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    issue: str = ""
    restarted: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """A complete answer without the thinking. `usage` is None if the provider does not report it; `cut_short`: the
    token limit ended it."""

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
        """Returns the complete answer. Raises ChatError; StreamCut if it broke off after it had begun."""
        ...

    async def aclose(self) -> None:
        """Closes the connections."""
        ...


class ChatModel(Protocol):
    """Answers a conversation."""

    @property
    def model(self) -> str: ...

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int | None = None,
        temperature: float = 0.2,
        tools: Sequence[Tool] = (),
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
