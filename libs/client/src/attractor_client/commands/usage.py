"""attractor usage"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import connected
from attractor_client.output import Output
from attractor_client.rendering import local_time
from contracts.models import UsageEntry, UsageGroup

HEAD = ("day", "user", "key", "model", "calls", "tokens read", "tokens written", "cost", "")


@connected()
async def usage(
    client: AttractorClient,
    output: Output,
    since: Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="The first day (UTC).")] = None,
    until: Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="The last day; default: today.")] = None,
    by: Annotated[list[UsageGroup] | None, typer.Option(help="What to group by; repeatable.")] = None,
    user: Annotated[UUID | None, typer.Option(help="Only this user's usage; for owners.")] = None,
) -> None:
    """Show chat model usage (your own; for owners, the whole workspace's) and what is left of your budgets.

    If a provider reports no tokens, they are estimated.

    \b
    Examples:
      attractor usage
      attractor usage --by user --by model --since 2026-11-01
    """
    groups = by or [UsageGroup.day, UsageGroup.model]
    report = await client.usage.read(
        since=since.date() if since else None, until=until.date() if until else None, by=groups, user_id=user
    )
    if output.as_json:
        output.json(report)
        return
    output.table(HEAD, map(_row, report.items))
    for budget in report.budgets:
        used = f"{budget.used + budget.reserved:,} of {budget.most:,} tokens of the {budget.subject}"
        output.note(f"{used} until {local_time(budget.resets_at)}")


def _row(entry: UsageEntry) -> tuple[object, ...]:
    return (
        entry.day or "",
        entry.user_id or "",
        entry.key_id or "",
        f"{entry.model} of {entry.provider}" if entry.model else "",
        entry.calls,
        f"{entry.input_tokens:,}",
        f"{entry.output_tokens:,}",
        "" if entry.cost is None else f"{entry.cost:.4f}",
        f"{entry.estimated_calls} estimated" if entry.estimated_calls else "",
    )
