"""What the worker takes from the queue, and what it brings back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from knowledge_graph.refinement.findings import Findings

# Before every document, as a place in their order.
START = (UUID(int=0), -1)


@dataclass(frozen=True)
class ClaimedRun:
    """A run that this process has leased. `outages` counts the provider's in a row."""

    workspace_id: UUID
    id: UUID
    document_ids: list[UUID] | None
    follow: bool
    outages: int
    lease_token: UUID


@dataclass(frozen=True)
class Control:
    """A run as it stands: what a user may have decided, what it may spend and has spent."""

    state: str
    max_tokens: int | None
    max_calls: int | None
    calls: int
    tokens: int

    def allows(self, calls: int, tokens: int) -> bool:
        """Whether so much more is within the budgets."""
        return (self.max_calls is None or self.calls + calls <= self.max_calls) and (
            self.max_tokens is None or self.tokens + tokens <= self.max_tokens
        )


@dataclass(frozen=True)
class Waiting:
    """A passage to be asked for; `tokens` is what its text takes, `chunks_key` the object that holds it."""

    document_id: UUID
    number: int
    chunk_id: str
    digest: bytes
    tokens: int
    chunks_key: str

    @property
    def place(self) -> tuple[UUID, int]:
        return self.document_id, self.number


@dataclass(frozen=True)
class Spent:
    """One call's. Refused calls cost nothing; of broken ones only a bound is known."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True)
class Outcome:
    """Of one call. Without findings: `error` says why, `final` that asking again would not help."""

    spent: Spent
    findings: Findings | None = None
    error: str | None = None
    final: bool = False


@dataclass(frozen=True)
class Queued:
    """A document that is to be graphed anew."""

    workspace_id: UUID
    document_id: UUID
    sequence: int
    attempts: int


@dataclass(frozen=True)
class UnreadDocument:
    """A graphed document whose passages are not kept yet."""

    document_id: UUID
    name: str
    chunks_key: str


@dataclass(frozen=True)
class Estimated:
    """`calls` and `tokens` of the different texts without a result."""

    documents: int
    chunks: int
    refined_chunks: int
    failed_chunks: int
    calls: int
    tokens: int


@dataclass(frozen=True)
class RunRow:
    id: UUID
    state: str
    follow: bool
    model: str
    max_tokens: int | None
    max_calls: int | None
    calls: int
    input_tokens: int
    output_tokens: int
    last_error: str | None
    retry_at: datetime | None
    created_by: UUID
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True)
class FailureRow:
    document_id: UUID
    number: int
    chunk_id: str
    attempts: int
    error: str
    failed_at: datetime
