"""Refinement of the graph by the configured chat model: what it would take, what it may take, how far it is."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field, model_validator

from contracts.base import Request, Resource, Text

Budget = Annotated[int, Field(ge=1, le=10**12)]
ChunkId = Annotated[Text, Field(max_length=64)]


class RefinementState(StrEnum):
    """`waiting`: all that is there is refined, and what comes is followed. `paused`, `budget_exhausted` and `failed`
    runs can be resumed; `completed` and `cancelled` are the end."""

    queued = "queued"
    running = "running"
    waiting = "waiting"
    paused = "paused"
    budget_exhausted = "budget_exhausted"
    failed = "failed"
    completed = "completed"
    cancelled = "cancelled"


class RefinementSettings(Resource):
    """Off until someone of the workspace turns it on. The budgets are those of runs that name none; a run needs one."""

    enabled: bool
    max_tokens: int | None
    max_calls: int | None
    version: int


class RefinementSettingsUpdate(Request):
    """What is left out stays; null takes a budget away."""

    enabled: bool | None = None
    max_tokens: Budget | None = None
    max_calls: Budget | None = None


class EstimateRequest(Request):
    """Of all documents of the workspace, or of these."""

    document_ids: Annotated[list[UUID], Field(min_length=1, max_length=1_000)] | None = None


class RefinementEstimate(Resource):
    """What refining would take now; nothing is spent by asking. One call for each different passage without a result.

    `output_tokens` is what answers take as a rule, `most_output_tokens` what they can take at most: a budget of
    `most_tokens` and `calls` is enough, but for calls that are made again. Input tokens are estimated from above
    (four bytes of text each; the provider's own tokenizer decides). Costs are null without configured prices.
    """

    model: str | None
    documents: int
    chunks: int = Field(description="Passages that can be refined; source code is left out.")
    refined_chunks: int = Field(description="Passages that have a result already, their own or that of the same text.")
    failed_chunks: int = Field(description="Passages that failed: only a replay asks for them again.")
    unread_documents: int = Field(description="Documents of earlier versions of Attractor that are yet to be counted.")
    calls: int
    input_tokens: int
    output_tokens: int
    most_output_tokens: int
    most_tokens: int
    cost: float | None
    most_cost: float | None
    currency: str | None


class RefinementRequest(Request):
    """Starts a run over all documents, or these. Budgets default to the settings'; one of them must be given.

    `follow`: it also takes up documents that come or change later, until its budget is spent or it is cancelled.
    """

    document_ids: Annotated[list[UUID], Field(min_length=1, max_length=1_000)] | None = None
    max_tokens: Budget | None = None
    max_calls: Budget | None = None
    follow: bool = False

    @model_validator(mode="after")
    def all_or_some(self) -> RefinementRequest:
        if self.follow and self.document_ids is not None:
            raise ValueError("a run that follows takes all documents")
        return self


class ResumeRequest(Request):
    """New budgets for the run as a whole, counted from its start; what is left out stays."""

    max_tokens: Budget | None = None
    max_calls: Budget | None = None


class RefinementRun(Resource):
    """`input_tokens` and `output_tokens` are spent: as the provider counts, or estimated where it does not tell.

    `last_error` may be one that was overcome; `retry_at` says when a provider that is away is asked again.
    """

    id: UUID
    state: RefinementState
    follow: bool
    model: str
    max_tokens: int | None
    max_calls: int | None
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    currency: str | None
    last_error: str | None
    retry_at: datetime | None
    created_by: UUID
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class RefinementStatus(Resource):
    """Counts are of passages of the whole workspace. `unapplied_documents` have results that the graph does not hold
    yet, or still holds results that were removed: they are being graphed anew."""

    enabled: bool
    model: str | None = Field(description="Of the deployment; null when no chat model is configured.")
    chunks: int
    refined_chunks: int
    failed_chunks: int
    pending_chunks: int
    unapplied_documents: int
    run: RefinementRun | None = Field(description="The newest.")


class FailedChunk(Resource):
    """A passage that the model did not refine, and why. The same text elsewhere is the same failure."""

    chunk_id: str
    document_id: UUID
    attempts: int
    error: str
    failed_at: datetime


class ReplayRequest(Request):
    """All failed passages, or these."""

    chunk_ids: Annotated[list[ChunkId], Field(min_length=1, max_length=1_000)] | None = None


class Replayed(Resource):
    """Failed passages that the next run, or the present one, asks for again."""

    chunks: int


class RemovedResults(Resource):
    """Results that are gone; their documents are graphed anew without them."""

    results: int
    documents: int
