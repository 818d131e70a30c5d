"""Who a call is charged to, and the limits. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID

from contracts.models import BudgetSubject

# The date of a run's budget, which is not per day.
OF_A_RUN = date(1970, 1, 1)


@dataclass(frozen=True)
class TokenLimits:
    """Tokens per run, and per day for a user, key and workspace; None: no limit."""

    run: int | None = None
    user: int | None = None
    key: int | None = None
    workspace: int | None = None

    def lowered(self, chosen: Mapping[BudgetSubject, int]) -> TokenLimits:
        """Returns these limits, each lowered to what the workspace has chosen for itself."""

        def lower(subject: BudgetSubject) -> int | None:
            known = (getattr(self, subject.value), chosen.get(subject))
            return min((most for most in known if most is not None), default=None)

        return TokenLimits(**{subject.value: lower(subject) for subject in BudgetSubject})


@dataclass(frozen=True)
class TokenBudget:
    """A daily token budget, or that of a run."""

    subject: BudgetSubject
    subject_id: UUID
    day: date
    most: int

    @property
    def resets_at(self) -> datetime:
        """Returns the next midnight in UTC; for a run's budget, the time until which it is kept."""
        return datetime.combine(self.day + timedelta(days=1), time(), UTC)


@dataclass(frozen=True)
class Spender:
    """The run, user, key and workspace that a call is made for."""

    workspace_id: UUID
    user_id: UUID
    key_id: UUID | None = None
    run_id: UUID | None = None
    attempt: int | None = None

    def budgets(self, limits: TokenLimits, day: date) -> list[TokenBudget]:
        """Returns the budgets that are limited, in the order in which they are locked."""
        found = [
            (BudgetSubject.key, self.key_id, limits.key, day),
            (BudgetSubject.run, self.run_id, limits.run, OF_A_RUN),
            (BudgetSubject.user, self.user_id, limits.user, day),
            (BudgetSubject.workspace, self.workspace_id, limits.workspace, day),
        ]
        return [TokenBudget(subject, who, when, most) for subject, who, most, when in found if who and most is not None]
