"""A workspace's calls of models, and its budgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import ClassVar
from uuid import UUID

from contracts.base import Page
from contracts.models import BudgetState, UsageEntry, UsageGroup
from contracts.orchestrator import RunStatus, RunUsage
from inference.calls import ModelCall
from orchestrator.usage.spender import Spender, TokenBudget
from service_kit.pagination import decode_cursor, page
from service_kit.repository import Repository
from service_kit.statements import Statements

MOST_ENTRIES = 10_000
# The fields of TokenUsage, summed over the rows of `call`.
SUMS = """count(*) AS calls,
       coalesce(sum(call.input_tokens), 0)::bigint AS input_tokens,
       coalesce(sum(call.output_tokens), 0)::bigint AS output_tokens,
       coalesce(sum(call.cached_tokens), 0)::bigint AS cached_tokens,
       coalesce(sum(call.thinking_tokens), 0)::bigint AS thinking_tokens,
       sum(call.cost) AS cost,
       count(*) FILTER (WHERE NOT call.is_told AND call.input_tokens + call.output_tokens > 0) AS estimated_calls"""
GIVE_BACK = """, parts AS (
    SELECT part.subject, part.subject_id, part.day,
           sum(CASE WHEN part.subject = ANY(ended.budgets) THEN ended.reserved_tokens ELSE 0 END) AS reserved,
           sum(ended.input_tokens + ended.output_tokens) AS used
    FROM ended CROSS JOIN LATERAL (VALUES
        ('workspace', ended.workspace_id, ended.day), ('user', ended.user_id, ended.day),
        ('key', ended.key_id, ended.day), ('run', ended.run_id, DATE '1970-01-01')
    ) AS part (subject, subject_id, day)
    GROUP BY part.subject, part.subject_id, part.day
), locked AS MATERIALIZED (
    -- In the order in which they are reserved, so that no two calls wait for each other.
    SELECT budget.subject, budget.subject_id, budget.day, parts.reserved, parts.used
    FROM token_budget AS budget JOIN parts USING (subject, subject_id, day)
    WHERE budget.workspace_id = %(workspace_id)s
    ORDER BY budget.subject, budget.subject_id
    FOR UPDATE OF budget
), given_back AS (
    UPDATE token_budget AS budget
    SET reserved = budget.reserved - locked.reserved, used = budget.used + locked.used
    FROM locked
    WHERE budget.workspace_id = %(workspace_id)s AND budget.subject = locked.subject
      AND budget.subject_id = locked.subject_id AND budget.day = locked.day
)
SELECT count(*) FROM ended"""


def usage_of(run: str) -> str:
    """Returns the SQL of the column `usage` for the run with this name, null if it called no model."""
    return f"""(
    SELECT to_jsonb(took) FROM (
        SELECT {SUMS} FROM model_call AS call
        WHERE call.workspace_id = {run}.workspace_id AND call.run_id = {run}.id AND call.ended IS NOT NULL
        HAVING count(*) > 0
    ) AS took
) AS usage"""  # noqa: S608  constants, and names of tables in statements


# The fields of RunUsage
RUN_COLUMNS = ", ".join(
    {"user_id": "run.created_by AS user_id", "status": "run.state AS status", "usage": usage_of("run")}.get(
        name, f"run.{name}"
    )
    for name in RunUsage.model_fields
)


class UsageSql(Statements, file="usage.sql", sums=SUMS, give_back=GIVE_BACK, run_columns=RUN_COLUMNS):
    reserve: str
    begin: str
    settle: str
    settle_lost: str
    budgets: str
    report: str
    runs: str


@dataclass(frozen=True)
class Reserved:
    """A budget after a reservation."""

    subject: str
    taken: int
    most: int

    NEARLY: ClassVar[float] = 0.8

    @property
    def is_nearly_used_up(self) -> bool:
        return self.taken >= self.NEARLY * self.most


@dataclass(frozen=True)
class BudgetRow:
    """A stored budget."""

    subject: str
    most: int
    used: int
    reserved: int


class WorkspaceUsage(Repository):
    """The usage and the budgets of one workspace."""

    async def reserve(self, budgets: Sequence[TokenBudget], tokens: int) -> list[Reserved]:
        """Reserves the tokens from each budget that is not used up; returns those budgets."""
        return await self.all(
            UsageSql.reserve,
            Reserved,
            tokens=tokens,
            subjects=[one.subject.value for one in budgets],
            subject_ids=[one.subject_id for one in budgets],
            days=[one.day for one in budgets],
            limits=[one.most for one in budgets],
        )

    async def begin(
        self, id: UUID, spender: Spender, call: ModelCall, day: date, budgets: Sequence[TokenBudget]
    ) -> None:
        await self.run(
            UsageSql.begin,
            id=id,
            run_id=spender.run_id,
            attempt=spender.attempt,
            user_id=spender.user_id,
            key_id=spender.key_id,
            role=call.role,
            provider=call.provider,
            model=call.model,
            day=day,
            reserved_tokens=call.sent_tokens + call.most_tokens,
            budgets=[one.subject.value for one in budgets],
        )

    async def settle(self, id: UUID, call: ModelCall) -> bool:
        """Ends a call and releases its reservation; returns whether it was in progress."""
        usage, is_told = call.counted
        ended = await self.value(
            UsageSql.settle,
            id=id,
            **asdict(usage),
            is_told=is_told,
            first_token_ms=call.first_token_ms,
            ended=call.end,
        )
        return bool(ended)

    async def settle_lost(self) -> int:
        """Ends the calls of processes that have died; returns how many."""
        return int(await self.value(UsageSql.settle_lost))

    async def budgets(self, budgets: Sequence[TokenBudget]) -> list[BudgetState]:
        """Returns the state of budgets, including unused ones."""
        rows = await self.all(
            UsageSql.budgets,
            BudgetRow,
            subjects=[one.subject.value for one in budgets],
            subject_ids=[one.subject_id for one in budgets],
            days=[one.day for one in budgets],
        )
        known = {row.subject: row for row in rows}
        return [_state(budget, known.get(budget.subject)) for budget in budgets]

    async def report(
        self, since: date, until: date, groups: Sequence[UsageGroup], user_id: UUID | None
    ) -> list[UsageEntry]:
        """Sums up the calls that ended, of one user or of all."""
        return await self.all(
            UsageSql.report,
            UsageEntry,
            since=since,
            until=until,
            groups=[group.value for group in groups],
            user_id=user_id,
            limit=MOST_ENTRIES,
        )

    async def runs(
        self, limit: int, cursor: str | None, statuses: Sequence[RunStatus], user_id: UUID | None
    ) -> Page[RunUsage]:
        """Returns the runs of one user or of all, newest first, but for those of temporary sessions."""
        at, before = decode_cursor(cursor)
        rows = await self.all(
            UsageSql.runs,
            RunUsage,
            user_id=user_id,
            states=[status.value for status in statuses] or None,
            before_at=at,
            before_id=before,
            limit=limit + 1,
        )
        return page(rows, limit, lambda run: (run.created_at, run.id))


def _state(budget: TokenBudget, row: BudgetRow | None) -> BudgetState:
    return BudgetState(
        subject=budget.subject,
        most=budget.most,
        used=row.used if row else 0,
        reserved=row.reserved if row else 0,
        resets_at=budget.resets_at,
    )
