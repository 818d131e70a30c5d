"""Routes of usage."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import date, timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from contracts.base import Page, ProblemBody
from contracts.gateway import Role
from contracts.models import UsageGroup, UsageReport
from contracts.orchestrator import RunStatus, RunUsage
from orchestrator.errors import BadPeriod
from orchestrator.usage.metering import today
from orchestrator.usage.repository import WorkspaceUsage
from orchestrator.usage.spender import Spender, TokenLimits
from service_kit.auth import Principal, Viewer
from service_kit.pagination import Cursor, Limit
from service_kit.problems import Forbidden
from service_kit.routes import Responses, UsedDatabase, from_state

router = APIRouter(prefix="/v1", tags=["orchestrator"])
MOST_DAYS = 366
LimitsOf = Callable[[UUID], Awaitable[TokenLimits]]  # of a workspace
FORBIDDEN: Responses = {403: {"model": ProblemBody, "description": "Only owners see the usage of others"}}
WhoseUsage = Annotated[UUID | None, Query(description="Only this user's; only owners may name another user")]


@router.get("/usage", summary="Read model usage", responses=FORBIDDEN)
async def read_usage(
    caller: Viewer,
    database: UsedDatabase,
    limits_of: Annotated[LimitsOf, from_state("limits_of")],
    since: Annotated[date | None, Query(description="The first day, UTC; by default 30 days before the last")] = None,
    until: Annotated[date | None, Query(description="The last day; by default today")] = None,
    by: Annotated[Sequence[UsageGroup], Query(description="What to group by")] = (UsageGroup.day, UsageGroup.model),
    user_id: WhoseUsage = None,
) -> UsageReport:
    """Returns the caller's own usage, for owners the workspace's, and the caller's budgets today."""
    last = until or today()
    first = since or last - min(timedelta(days=30), last - date.min)
    if not timedelta(0) <= last - first < timedelta(days=MOST_DAYS):
        raise BadPeriod(f"since and until may be at most {MOST_DAYS} days apart")
    whose = _whose(caller, user_id)
    spender = Spender(caller.workspace_id, caller.user_id, caller.key_id)
    async with database.workspace(caller.workspace_id) as connection:
        usage = WorkspaceUsage(connection, caller.workspace_id)
        return UsageReport(
            since=first,
            until=last,
            items=await usage.report(first, last, by, whose),
            budgets=await usage.budgets(spender.budgets(await limits_of(caller.workspace_id), today())),
        )


@router.get("/usage/runs", summary="List runs and what they used", responses=FORBIDDEN)
async def list_usage_of_runs(
    caller: Viewer,
    database: UsedDatabase,
    status: Annotated[Sequence[RunStatus], Query(max_length=len(RunStatus), description="Only in these states")] = (),
    user_id: WhoseUsage = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[RunUsage]:
    """Lists the caller's own runs, for owners the workspace's, newest first, without anything of their conversations.

    Runs of temporary sessions are left out, deleted ones are gone; `GET /v1/usage` counts both.
    """
    whose = _whose(caller, user_id)
    async with database.workspace(caller.workspace_id) as connection:
        return await WorkspaceUsage(connection, caller.workspace_id).runs(limit, cursor, status, whose)


def _whose(caller: Principal, user_id: UUID | None) -> UUID | None:
    """Returns the user whose usage the caller is shown; None for everyone's. Raises Forbidden."""
    if caller.role is Role.owner:
        return user_id
    if user_id not in (None, caller.user_id):
        raise Forbidden("only owners see the usage of others")
    return caller.user_id
