"""attractor keys"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import Limit, Yes, confirm, connected, show_list
from attractor_client.output import Output
from attractor_client.rendering import local_time
from contracts.gateway import Role

app = typer.Typer(no_args_is_help=True, help="List, create and revoke API keys. Requires an owner's key.")
WorkspaceId = Annotated[
    UUID | None, typer.Option("--workspace", "-w", help="Workspace id; default: your key's workspace.")
]


@app.command("list")
@connected()
async def list_keys(client: AttractorClient, output: Output, workspace: WorkspaceId = None, limit: Limit = 50) -> None:
    """List a workspace's keys, revoked ones too."""
    await show_list(
        output,
        client.accounts.keys(await _workspace(client, workspace)),
        limit,
        ("id", "name", "role", "last used", "revoked"),
        lambda one: (
            one.id,
            one.name,
            one.role.value,
            local_time(one.last_used_at) or "never",
            local_time(one.revoked_at),
        ),
    )


@app.command()
@connected()
async def create(
    client: AttractorClient,
    output: Output,
    name: Annotated[str, typer.Argument(help="Name of the key.")],
    role: Annotated[Role, typer.Option(help="Role of the key.")] = Role.editor,
    user: Annotated[UUID | None, typer.Option(help="Id of the user who owns the key; default: you.")] = None,
    workspace: WorkspaceId = None,
    all_workspaces: Annotated[
        bool, typer.Option("--all-workspaces", help="Let the key search every workspace of its user.")
    ] = False,
) -> None:
    """Create a key. It is printed on stdout, this once and never again.

    \b
    Example:
      attractor keys create ci --role viewer
    """
    place = await _workspace(client, workspace)
    key = await client.accounts.create_key(place, name, role=role, user_id=user, all_workspaces=all_workspaces)
    if output.as_json:
        output.json(key)
        return
    output.note(f"{key.name}, {key.role.value}, id {key.id}. Copy the key now; it is not shown again.")
    output.text(key.key)


@app.command()
@connected()
async def revoke(
    client: AttractorClient,
    output: Output,
    key_id: Annotated[UUID, typer.Argument(metavar="ID", help="The key's id, not the key itself.")],
    workspace: WorkspaceId = None,
    yes: Yes = False,
) -> None:
    """Revoke a key at once."""
    confirm("Revoke this key?", output, yes)
    await client.accounts.revoke_key(await _workspace(client, workspace), key_id)
    output.json({"revoked": key_id}) if output.as_json else output.text(f"{key_id} revoked")


async def _workspace(client: AttractorClient, given: UUID | None) -> UUID:
    return given or (await client.accounts.me()).workspace.id
