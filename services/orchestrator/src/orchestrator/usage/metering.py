"""Counts the calls of a run's models, and reserves tokens from its budgets before each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime
from uuid import UUID, uuid4

from contracts.models import BudgetSubject
from contracts.run_events import ModelCalled, ProviderIssue, RunEventData
from inference.calls import CallEnd, ModelCall
from inference.errors import CallRefused
from orchestrator.usage.model_metrics import ModelMetrics
from orchestrator.usage.repository import WorkspaceUsage
from orchestrator.usage.spender import Spender, TokenBudget, TokenLimits
from service_kit.postgres import Connection, Database
from service_kit.worker import uninterrupted


class BudgetUsedUp(CallRefused):
    """The tokens of a budget are used up."""


def today() -> date:
    """Returns the current day for budgets, in UTC."""
    return datetime.now(UTC).date()


@dataclass
class CallMeter:
    """The Meter of `spender`. `tell` receives events: the usage of each call, and once that a budget is nearly used up.

    Reservations are settled however a call ends; those of a process that died, when a budget seems used up. Commits do
    not wait for the disk: a run's usage becomes durable with the end of the run, which does.
    """

    database: Database
    spender: Spender
    limits: TokenLimits
    tell: Callable[[RunEventData], None]
    metrics: ModelMetrics = field(default_factory=lambda: ModelMetrics(("", None)))
    told: set[str] = field(default_factory=set)

    @asynccontextmanager
    async def metered(self, call: ModelCall, /) -> AsyncIterator[None]:
        """Meters one call. Raises BudgetUsedUp, with the time at which the budget is reset."""
        call_id = uuid4()
        try:
            await uninterrupted(self._begin(call_id, call))
        except asyncio.CancelledError:
            call.end = CallEnd.failed  # no provider was called
            await uninterrupted(self._settle(call_id, call))
            raise
        try:
            yield
        finally:
            await uninterrupted(self._settle(call_id, call))

    def _opened(self) -> AbstractAsyncContextManager[Connection]:
        return self.database.workspace(self.spender.workspace_id, durable=False)

    async def _begin(self, call_id: UUID, call: ModelCall) -> None:
        day = today()
        budgets = self.spender.budgets(self.limits, day)
        try:
            await self._reserve(call_id, call, day, budgets)
        except BudgetUsedUp:
            async with self._opened() as connection:
                lost = await WorkspaceUsage(connection, self.spender.workspace_id).settle_lost()
            if not lost:
                raise
            await self._reserve(call_id, call, day, budgets)

    async def _reserve(self, call_id: UUID, call: ModelCall, day: date, budgets: list[TokenBudget]) -> None:
        async with self._opened() as connection:
            usage = WorkspaceUsage(connection, self.spender.workspace_id)
            reserved = await usage.reserve(budgets, call.sent_tokens + call.most_tokens) if budgets else []
            granted = {one.subject for one in reserved}
            for budget in budgets:
                if budget.subject not in granted:
                    raise BudgetUsedUp(_used_up(budget))
            await usage.begin(call_id, self.spender, call, day, budgets)
        for one in reserved:
            if one.is_nearly_used_up and one.subject not in self.told:
                self.told.add(one.subject)
                share = 100 * one.taken // one.most
                self.tell(ProviderIssue(message=f"{share} % of {_of(one.subject, one.most)} are used or reserved"))

    async def _settle(self, call_id: UUID, call: ModelCall) -> None:
        call.end = call.end or CallEnd.cancelled
        async with self._opened() as connection:
            was_open = await WorkspaceUsage(connection, self.spender.workspace_id).settle(call_id, call)
        if was_open:
            self.metrics.count(call, call.end)
            self.tell(_called(call, call.end))


def _called(call: ModelCall, end: CallEnd) -> ModelCalled:
    usage, is_told = call.counted
    return ModelCalled(
        role=call.role,
        provider=call.provider,
        model=call.model,
        **asdict(usage),
        is_told=is_told,
        first_token_ms=None if call.first_token_ms is None else round(call.first_token_ms, 1),
        ended=end.value,
    )


def _used_up(budget: TokenBudget) -> str:
    used = f"all of {_of(budget.subject, budget.most)} are used"
    return used if budget.subject is BudgetSubject.run else f"{used}, until {budget.resets_at:%Y-%m-%dT%H:%MZ}"


def _of(subject: str, most: int) -> str:
    return f"the {most} tokens of the {subject}" + ("" if subject == BudgetSubject.run else " a day")
