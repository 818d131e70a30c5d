"""attractor status"""

from __future__ import annotations

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import FAILED, connected
from attractor_client.output import Output


@connected()
async def status(client: AttractorClient, output: Output) -> None:
    """Show whose key this is and whether every service is ready, with version and schema; exit code 1 if one is not."""
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
        rows = [(one.name, one.status, one.version, one.schema_version, one.detail) for one in found.services]
        output.table(("service", "status", "version", "schema", "detail"), rows)
        walls = [
            (wall.name, "yes" if wall.active else "MISSING", wall.detail)
            for one in found.services
            for wall in one.walls
        ]
        if walls:
            output.text()
            output.table(("wall around conversions", "active", "detail"), walls)
    if found.status != "ready":
        raise typer.Exit(FAILED)
