"""attractor users"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import Limit, Yes, confirm, connected, show_list
from attractor_client.output import Output
from attractor_client.rendering import local_time
from contracts.gateway import User

app = typer.Typer(
    no_args_is_help=True, help="List, disable, promote and delete users. Requires an administrator's key."
)
UserId = Annotated[UUID, typer.Argument(metavar="ID", help="The user's id.")]


@app.command("list")
@connected()
async def list_users(client: AttractorClient, output: Output, limit: Limit = 50) -> None:
    """List the users of the deployment, oldest first."""
    await show_list(
        output,
        client.accounts.users(),
        limit,
        ("id", "name", "", "created", "disabled"),
        lambda one: (
            one.id,
            one.name,
            "administrator" if one.is_admin else "",
            local_time(one.created_at),
            local_time(one.disabled_at),
        ),
    )


@app.command()
@connected()
async def disable(client: AttractorClient, output: Output, user_id: UserId, yes: Yes = False) -> None:
    """Lock a user out: all keys stop working at once, until `attractor users enable`."""
    confirm("Disable this user?", output, yes)
    _show(output, await client.accounts.change_user(user_id, disabled=True), "disabled")


@app.command()
@connected()
async def enable(client: AttractorClient, output: Output, user_id: UserId) -> None:
    """Enable a disabled user; the user's keys work as before."""
    _show(output, await client.accounts.change_user(user_id, disabled=False), "enabled")


@app.command()
@connected()
async def promote(client: AttractorClient, output: Output, user_id: UserId, yes: Yes = False) -> None:
    """Make a user an administrator, who may do everything everywhere with a key of the role owner."""
    confirm("Make this user an administrator of the whole deployment?", output, yes)
    _show(output, await client.accounts.change_user(user_id, is_admin=True), "is an administrator")


@app.command()
@connected()
async def demote(client: AttractorClient, output: Output, user_id: UserId) -> None:
    """Make an administrator an ordinary user. Fails if no other administrator has a valid key or can sign in."""
    _show(output, await client.accounts.change_user(user_id, is_admin=False), "is no administrator")


@app.command()
@connected()
async def delete(client: AttractorClient, output: Output, user_id: UserId, yes: Yes = False) -> None:
    """Delete a user with all memberships, keys and invitations, for good.

    Documents and other work in the workspaces stay. Fails while the user is the only owner of a workspace: make another
    member an owner, or delete the workspace.
    """
    confirm("Delete this user for good?", output, yes)
    await client.accounts.delete_user(user_id)
    output.result({"deleted": user_id}, f"{user_id} deleted")


def _show(output: Output, user: User, state: str) -> None:
    output.result(user, f"{user.name} {state} ({user.id})")
