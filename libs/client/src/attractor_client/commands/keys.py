"""attractor keys"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.commands.expiry import EXPIRES, moment
from attractor_client.invocation import Limit, Yes, confirm, connected, show_list
from attractor_client.output import Output
from attractor_client.rendering import local_time
from contracts.gateway import Role

app = typer.Typer(
    no_args_is_help=True, help="List, create and revoke API keys: your own; for owners, all of a workspace's."
)
WorkspaceId = Annotated[
    UUID | None, typer.Option("--workspace", "-w", help="Workspace id; default: your key's workspace.")
]


@app.command("list")
@connected()
async def list_keys(client: AttractorClient, output: Output, workspace: WorkspaceId = None, limit: Limit = 50) -> None:
    """List your keys of a workspace, including revoked ones; owners see everyone's."""
    await show_list(
        output,
        client.accounts.keys(await own_workspace(client, workspace)),
        limit,
        ("id", "name", "user", "role", "workspaces", "expires", "last used", "revoked"),
        lambda one: (
            one.id,
            one.name,
            one.user_id,
            one.role.value,
            "all" if one.all_workspaces else len(one.workspaces),
            local_time(one.expires_at),
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
    workspace: Annotated[
        list[UUID] | None,
        typer.Option("--workspace", "-w", help="Workspace id; default: your key's. Repeat it for more to search."),
    ] = None,
    all_workspaces: Annotated[
        bool, typer.Option("--all-workspaces", help="Let the key search every workspace you belong to.")
    ] = False,
    expires: Annotated[str | None, typer.Option(help=EXPIRES)] = None,
) -> None:
    """Create a key in your own name. It is printed to stdout, only this once.

    It belongs to the first workspace and may search the others, which your current key must be able to read, too. For
    another person, create an invitation.

    \b
    Examples:
      attractor keys create ci --role viewer --expires 90d
      attractor keys create laptop --expires 2027-06-30
      attractor keys create reader --workspace ID --workspace ID
    """
    first, *further = workspace or [await own_workspace(client, None)]
    key = await client.accounts.create_key(
        first,
        name,
        role=role,
        all_workspaces=all_workspaces,
        workspaces=further,
        expires_at=moment(expires) if expires else None,
    )
    if output.as_json:
        output.json(key)
        return
    until = f", until {local_time(key.expires_at)}" if key.expires_at else ""
    output.note(f"{key.name}, {key.role.value}{until}, id {key.id}. Copy the key now; it is not shown again.")
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
    await client.accounts.revoke_key(await own_workspace(client, workspace), key_id)
    output.result({"revoked": key_id}, f"{key_id} revoked")


async def own_workspace(client: AttractorClient, given: UUID | None) -> UUID:
    """Returns the given workspace, or the one of the client's key."""
    return given or (await client.accounts.me()).workspace.id
