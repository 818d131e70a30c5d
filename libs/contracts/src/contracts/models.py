"""Chat models: their roles, usage and budgets."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from typing import Literal, get_args
from uuid import UUID

from pydantic import Field

from contracts.base import Resource

ModelRole = Literal["router", "answer", "artifact", "summary", "title", "vision"]
MODEL_ROLES: tuple[ModelRole, ...] = get_args(ModelRole)


class TokenUsage(Resource):
    """The model usage of a run, of an answer, or of many.

    `cached_tokens` are part of the input, `thinking_tokens` of the output. `cost` is in the provider's currency, null
    if no provider reports it. `estimated_calls` counts the calls whose provider reported no tokens, so that they are
    estimated.
    """

    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    thinking_tokens: int = 0
    cost: float | None = None
    estimated_calls: int = 0


class UsageGroup(StrEnum):
    """What to group usage by."""

    day = "day"
    user = "user"
    key = "key"
    model = "model"


class UsageEntry(TokenUsage):
    """The usage of one day, user, key or model; fields that are not grouped by are null, and so is a browser's key."""

    day: date | None
    user_id: UUID | None
    key_id: UUID | None
    provider: str | None
    model: str | None


class BudgetSubject(StrEnum):
    """What the limit applies to: a day's tokens, or one run's."""

    run = "run"
    user = "user"
    key = "key"
    workspace = "workspace"


class BudgetState(Resource):
    """One of the caller's budgets: `reserved` is set aside for calls in progress. It starts over at `resets_at`."""

    subject: BudgetSubject
    most: int
    used: int
    reserved: int
    resets_at: datetime


class UsageReport(Resource):
    """Model usage from `since` to `until` (days, UTC), and the caller's budgets today."""

    since: date
    until: date
    items: list[UsageEntry] = Field(description="At most 10,000")
    budgets: list[BudgetState]
