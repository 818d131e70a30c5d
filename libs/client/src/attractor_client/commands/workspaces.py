"""attractor workspaces"""

from __future__ import annotations

from typing import Annotated

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import Json, Limit, at_most, run
from attractor_client.output import Output
from attractor_client.rendering import local_time

app = typer.Typer(no_args_is_help=True, help="List and create workspaces.")


@app.command("list")
def list_workspaces(ctx: typer.Context, limit: Limit = 50, json: Json = False) -> None:
    """List the workspaces that you may see; * is the one of your key."""

    async def work(client: AttractorClient, output: Output) -> None:
        found = await at_most(limit, client.accounts.workspaces())
        if output.as_json:
            output.json(found)
            return
        own = (await client.accounts.me()).workspace.id
        rows = [("*" if one.id == own else "", one.id, one.name, local_time(one.created_at)) for one in found]
        output.table(("", "id", "name", "created"), rows)

    run(ctx, json, work)


@app.command()
def create(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="The workspace's name.")],
    json: Json = False,
) -> None:
    """Create a workspace; it takes an administrator's key.

    \b
    Example:
      attractor workspaces create Research
      attractor keys create laptop --role owner --workspace ID
    """

    async def work(client: AttractorClient, output: Output) -> None:
        workspace = await client.accounts.create_workspace(name)
        output.json(workspace) if output.as_json else output.text(f"{workspace.id} {workspace.name}")

    run(ctx, json, work)
