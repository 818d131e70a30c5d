"""Rows and values of refinement: leased work, budgets, and results of calls."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from knowledge_graph.refinement.findings import Findings

START = (UUID(int=0), -1)
"""Precedes every chunk in document order."""


@dataclass(frozen=True)
class HeldRefinement:
    """A workspace's refinement under a lease. `outages` counts consecutive outages of the provider."""

    workspace_id: UUID
    lease_token: UUID
    attempts: int
    outages: int


@dataclass(frozen=True)
class HeldRegraph:
    """A document to graph again, under a lease; `sequence` changes if it is queued again."""

    workspace_id: UUID
    document_id: UUID
    sequence: int
    lease_token: UUID


@dataclass(frozen=True)
class RefinementRow:
    enabled: bool
    state: str
    max_tokens: int | None
    version: int
    calls: int
    input_tokens: int
    output_tokens: int
    last_error: str | None
    retry_at: datetime | None


@dataclass(frozen=True)
class RefinementBudget:
    """The tokens that the workspace may spend in total (None: no budget), and those it has spent."""

    max_tokens: int | None
    tokens: int

    def allows(self, tokens: int) -> bool:
        return self.max_tokens is not None and self.tokens + tokens <= self.max_tokens


@dataclass(frozen=True)
class PendingChunk:
    """A chunk to ask about; `tokens` is the size of its text, `chunks_key` names the object that holds it."""

    document_id: UUID
    number: int
    chunk_id: str
    digest: bytes
    tokens: int
    chunks_key: str

    @property
    def position(self) -> tuple[UUID, int]:
        return self.document_id, self.number


@dataclass(frozen=True)
class CallCost:
    """The cost of a call. Rejected calls are free; for calls that broke off only an upper bound is known."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True)
class CallOutcome:
    """The result of a call. Without findings, `error` is the reason, and `final` means that a retry would not help."""

    cost: CallCost
    findings: Findings | None = None
    error: str | None = None
    final: bool = False


@dataclass(frozen=True)
class UnreadDocument:
    """A graphed document whose chunks are not stored yet."""

    document_id: UUID
    name: str
    chunks_key: str


@dataclass(frozen=True)
class StoredFindings:
    digest: bytes
    found: dict[str, object]


@dataclass(frozen=True)
class ChunkCounts:
    """Numbers of chunks; `calls` and `tokens` are for the distinct texts without a result."""

    documents: int
    chunks: int
    refined_chunks: int
    failed_chunks: int
    calls: int
    tokens: int


@dataclass(frozen=True)
class GoneChunk:
    """A deleted chunk: its document, and the digest of its text."""

    document_id: UUID
    digest: bytes
