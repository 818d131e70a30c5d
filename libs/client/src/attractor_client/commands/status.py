"""attractor status"""

from __future__ import annotations

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import FAILED, Json, run
from attractor_client.output import Output


def status(ctx: typer.Context, json: Json = False) -> None:
    """Show whose key this is and whether every service is ready; exit code 1 when one is not."""

    async def work(client: AttractorClient, output: Output) -> None:
        found = await client.accounts.status()
        if output.as_json:
            output.json(found)
        else:
            caller = await client.accounts.me()
            output.fields(
                [
                    ("server", f"{client.transport.url} (version {found.version})"),
                    ("user", f"{caller.user.name}, {caller.role.value}"),
                    ("workspace", f"{caller.workspace.name} ({caller.workspace.id})"),
                    ("status", found.status),
                ]
            )
            output.text()
            rows = [(one.name, one.status, one.detail) for one in found.services]
            output.table(("service", "status", "detail"), rows)
        if found.status != "ready":
            raise typer.Exit(FAILED)

    run(ctx, json, work)
