"""Chat models: what they are used for, and what they took."""

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
    """What calls of models took: of a run, of an answer, or of many.

    `cached_tokens` are part of the input, `thinking_tokens` of the output. `cost` is in the provider's currency, null
    where none tells it. `estimated_calls` are those whose provider told no tokens: theirs are estimated.
    """

    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    thinking_tokens: int = 0
    cost: float | None = None
    estimated_calls: int = 0


class UsageGroup(StrEnum):
    """What usage is told apart by."""

    day = "day"
    user = "user"
    key = "key"
    model = "model"


class UsageEntry(TokenUsage):
    """What one day, user, key or model took; what it is not told apart by is null, and so is the key of a browser."""

    day: date | None
    user_id: UUID | None
    key_id: UUID | None
    provider: str | None
    model: str | None


class BudgetSubject(StrEnum):
    """Whose tokens are bounded: those of a day, or of one run."""

    run = "run"
    user = "user"
    key = "key"
    workspace = "workspace"


class BudgetState(Resource):
    """A budget of the caller: `reserved` is what calls that are under way may take. At `resets_at` it begins anew."""

    subject: BudgetSubject
    most: int
    used: int
    reserved: int
    resets_at: datetime


class UsageReport(Resource):
    """What calls of models took from `since` to `until` (days, UTC), and the caller's budgets of today."""

    since: date
    until: date
    items: list[UsageEntry] = Field(description="At most 10,000")
    budgets: list[BudgetState]
