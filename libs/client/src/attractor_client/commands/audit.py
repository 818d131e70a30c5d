"""attractor audit"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import Limit, connected, show_list
from attractor_client.output import Output
from attractor_client.rendering import local_time
from contracts.gateway import AuditResult


@connected()
async def audit(
    client: AttractorClient,
    output: Output,
    action: Annotated[str | None, typer.Option(help="An action such as key.create, or its first part: key.")] = None,
    result: Annotated[AuditResult | None, typer.Option(help="How it ended.")] = None,
    user: Annotated[UUID | None, typer.Option(help="Id of the user who did it.")] = None,
    target: Annotated[str | None, typer.Option(help="Id of the resource acted on.")] = None,
    since: Annotated[datetime | None, typer.Option(help="From this time on, in local time.")] = None,
    until: Annotated[datetime | None, typer.Option(help="Before this time, in local time.")] = None,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="All workspaces and the deployment; requires an administrator.")
    ] = False,
    limit: Limit = 50,
) -> None:
    """List who did what, newest first. Requires an owner's key.

    \b
    Examples:
      attractor audit --action document.delete
      attractor audit --result refused --since 2026-01-01
      attractor --json audit --limit 10000 > audit.json
    """
    entries = client.audit.all(
        action=action,
        result=result,
        user_id=user,
        target_id=target,
        since=since and since.astimezone(UTC),
        until=until and until.astimezone(UTC),
        everywhere=everywhere,
    )
    await show_list(
        output,
        entries,
        limit,
        ("at", "action", "result", "user", "target", "address"),
        lambda one: (
            local_time(one.at),
            one.action,
            f"{one.result.value} {one.status}",
            one.user_id or "",
            one.target_id or "",
            one.address or "",
        ),
    )
