"""One call of a model, and the port for metering calls."""

import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from contracts.models import ModelRole
from inference.chat import ChatDelta, Usage
from inference.estimate import BYTES_OF_A_TOKEN


class CallEnd(StrEnum):
    """How a call ended: `cut` by its provider, `cancelled` by its caller, `failed` before the first word."""

    completed = "completed"
    cut = "cut"
    cancelled = "cancelled"
    failed = "failed"


@dataclass(slots=True)
class ModelCall:
    """A call in progress. `sent_tokens` is estimated, `most_tokens` is the limit of the answer.

    `first_token_ms` are the milliseconds to the first delta. `usage` is what the provider reported.
    """

    role: ModelRole
    provider: str
    model: str
    sent_tokens: int
    most_tokens: int
    end: CallEnd | None = None
    usage: Usage | None = None
    first_token_ms: float | None = None
    written_bytes: int = 0
    clock: Callable[[], float] = time.monotonic
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.clock()

    def note(self, delta: ChatDelta) -> None:
        """Counts a delta."""
        if self.first_token_ms is None:
            self.first_token_ms = 1_000 * (self.clock() - self.began)
        pieces = [delta.text, delta.thinking, *(call.name + call.arguments for call in delta.tool_calls)]
        self.written_bytes += sum(len(piece.encode("utf-8", "replace")) for piece in pieces)
        self.usage = delta.usage or self.usage

    @property
    def written_tokens(self) -> int:
        """Estimates the tokens written so far."""
        return -(-self.written_bytes // BYTES_OF_A_TOKEN)

    @property
    def counted(self) -> tuple[Usage, bool]:
        """Returns the call's usage, and whether the provider reported it. A call that failed at once used nothing."""
        if self.usage is not None:
            return self.usage, True
        if self.first_token_ms is None and self.end is not CallEnd.cancelled:
            return Usage(0, 0), False
        return Usage(self.sent_tokens, self.written_tokens), False


class Meter(Protocol):
    """Counts calls, and refuses those for which there is no budget."""

    def metered(self, call: ModelCall, /) -> AbstractAsyncContextManager[None]:
        """Returns the context of one call. Entering it may raise CallRefused; leaving it settles the call."""
        ...


class Unmetered:
    """Counts nothing."""

    def metered(self, _: ModelCall, /) -> AbstractAsyncContextManager[None]:
        return nullcontext()
