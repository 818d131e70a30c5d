"""Routes of usage."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request

from contracts.base import ProblemBody
from contracts.gateway import Role
from contracts.models import UsageGroup, UsageReport
from orchestrator.errors import BadPeriod
from orchestrator.usage.metering import today
from orchestrator.usage.repository import WorkspaceUsage
from orchestrator.usage.spender import Spender, TokenLimits
from service_kit.auth import Viewer
from service_kit.postgres import Database
from service_kit.problems import Forbidden

router = APIRouter(prefix="/v1", tags=["orchestrator"])
MOST_DAYS = 366
Responses = dict[int | str, dict[str, Any]]
FORBIDDEN: Responses = {403: {"model": ProblemBody, "description": "Only owners see the usage of others"}}


@router.get("/usage", summary="Read model usage", responses=FORBIDDEN)
async def read_usage(
    caller: Viewer,
    request: Request,
    since: Annotated[date | None, Query(description="The first day, UTC; by default 30 days before the last")] = None,
    until: Annotated[date | None, Query(description="The last day; by default today")] = None,
    by: Annotated[list[UsageGroup], Query(description="What to group by")] = [UsageGroup.day, UsageGroup.model],  # noqa: B006 - FastAPI copies it
    user_id: Annotated[UUID | None, Query(description="Only this user's; only owners may name another user")] = None,
) -> UsageReport:
    """Returns the caller's own usage, for owners the workspace's, and the caller's budgets today."""
    last = until or today()
    first = since or last - min(timedelta(days=30), last - date.min)
    if not timedelta(0) <= last - first < timedelta(days=MOST_DAYS):
        raise BadPeriod(f"since and until may be at most {MOST_DAYS} days apart")
    if user_id not in (None, caller.user_id) and caller.role is not Role.owner:
        raise Forbidden("only owners see the usage of others")
    whose = user_id if caller.role is Role.owner else caller.user_id
    limits: TokenLimits = request.app.state.token_limits
    database: Database = request.app.state.database
    spender = Spender(caller.workspace_id, caller.user_id, caller.key_id)
    async with database.workspace(caller.workspace_id) as connection:
        usage = WorkspaceUsage(connection, caller.workspace_id)
        return UsageReport(
            since=first,
            until=last,
            items=await usage.report(first, last, by, whose),
            budgets=await usage.budgets(spender.budgets(limits, today())),
        )
