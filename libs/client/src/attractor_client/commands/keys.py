"""attractor keys"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import Json, Limit, Yes, at_most, confirm, run
from attractor_client.output import Output
from attractor_client.rendering import local_time
from contracts.gateway import Role

app = typer.Typer(no_args_is_help=True, help="API keys of a workspace. They need an owner's key.")
WorkspaceId = Annotated[UUID | None, typer.Option("--workspace", "-w", help="Default: the workspace of your key.")]


@app.command("list")
def list_keys(ctx: typer.Context, workspace: WorkspaceId = None, limit: Limit = 50, json: Json = False) -> None:
    """List a workspace's keys, revoked ones too."""

    async def work(client: AttractorClient, output: Output) -> None:
        found = await at_most(limit, client.accounts.keys(await _workspace(client, workspace)))
        if output.as_json:
            output.json(found)
            return
        rows = [
            (one.id, one.name, one.role.value, local_time(one.last_used_at) or "never", local_time(one.revoked_at))
            for one in found
        ]
        output.table(("id", "name", "role", "last used", "revoked"), rows)

    run(ctx, json, work)


@app.command()
def create(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What the key is for.")],
    role: Annotated[Role, typer.Option(help="What it may do.")] = Role.editor,
    user: Annotated[UUID | None, typer.Option(help="Whose key it is; default: yours.")] = None,
    workspace: WorkspaceId = None,
    all_workspaces: Annotated[
        bool, typer.Option("--all-workspaces", help="It may search every workspace of its user.")
    ] = False,
    json: Json = False,
) -> None:
    """Create a key. It is printed on stdout, this once and never again.

    \b
    Example:
      attractor keys create ci --role viewer
    """

    async def work(client: AttractorClient, output: Output) -> None:
        place = await _workspace(client, workspace)
        key = await client.accounts.create_key(place, name, role=role, user_id=user, all_workspaces=all_workspaces)
        if output.as_json:
            output.json(key)
            return
        output.note(f"{key.name}, {key.role.value}, id {key.id}. Keep the key now: it is not shown again.")
        output.text(key.key)

    run(ctx, json, work)


@app.command()
def revoke(
    ctx: typer.Context,
    key_id: Annotated[UUID, typer.Argument(metavar="ID", help="The key's id, not the key itself.")],
    workspace: WorkspaceId = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Revoke a key at once."""

    async def work(client: AttractorClient, output: Output) -> None:
        confirm("Revoke this key?", output, yes)
        await client.accounts.revoke_key(await _workspace(client, workspace), key_id)
        output.json({"revoked": key_id}) if output.as_json else output.text(f"{key_id} revoked")

    run(ctx, json, work)


async def _workspace(client: AttractorClient, given: UUID | None) -> UUID:
    return given or (await client.accounts.me()).workspace.id
