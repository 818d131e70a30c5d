"""Refinement of the graph by the configured chat model: estimate, switch, budget and progress."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field

from contracts.base import Request, Resource

TokenBudget = Annotated[int, Field(ge=1, le=10**12)]


class RefinementState(StrEnum):
    """`waiting`: everything is refined, and new documents will be. `budget_exhausted` and `failed`: nothing happens
    until the settings change."""

    off = "off"
    queued = "queued"
    running = "running"
    waiting = "waiting"
    budget_exhausted = "budget_exhausted"
    failed = "failed"


class RefinementSettings(Resource):
    """`max_tokens` limits what the workspace spends in total; refinement can only be on with a budget."""

    enabled: bool
    max_tokens: int | None
    version: int


class RefinementSettingsUpdate(Request):
    """Fields that are left out stay as they are."""

    enabled: bool | None = None
    max_tokens: TokenBudget | None = None


class EstimateRequest(Request):
    """Estimates for all documents of the workspace, or only for these."""

    document_ids: Annotated[list[UUID], Field(min_length=1, max_length=1_000)] | None = None


class RefinementEstimate(Resource):
    """What refinement would take now; the estimate itself spends nothing. One call for each distinct chunk without a
    result.

    `output_tokens` is the usual length of the answers, `most_output_tokens` their upper bound: a budget of
    `most_tokens` is enough, except for repeated calls. Input tokens are estimated from above (four bytes of text each;
    the provider's own tokenizer decides).
    """

    model: str | None
    documents: int
    chunks: int = Field(description="Chunks that can be refined; source code is left out.")
    refined_chunks: int = Field(description="Chunks that already have a result, their own or that of the same text.")
    failed_chunks: int = Field(description="Chunks that failed; deleting the results makes them eligible again.")
    unread_documents: int = Field(
        description="Documents from earlier versions of Attractor that have not been counted yet."
    )
    calls: int
    input_tokens: int
    output_tokens: int
    most_output_tokens: int
    most_tokens: int


class RefinementStatus(Resource):
    """Progress of the workspace's refinement.

    `unapplied_documents` counts documents whose graph does not hold their results yet, or still holds deleted ones;
    they are being graphed again. `input_tokens` and `output_tokens` are what was spent in total, as the provider
    counts, or estimated if it does not report it. `last_error` may have been resolved since.
    """

    enabled: bool
    state: RefinementState
    model: str | None = Field(description="The deployment's chat model; null if none is configured.")
    chunks: int
    refined_chunks: int
    failed_chunks: int
    pending_chunks: int
    unapplied_documents: int
    max_tokens: int | None
    calls: int
    input_tokens: int
    output_tokens: int
    last_error: str | None
    retry_at: datetime | None = Field(description="When an unavailable provider will be called again.")


class DeletedResults(Resource):
    """How many results were deleted, and how many documents are being graphed again without them."""

    results: int
    documents: int
