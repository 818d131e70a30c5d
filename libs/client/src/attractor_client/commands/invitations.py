"""attractor invitations"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.commands.expiry import EXPIRES, moment
from attractor_client.commands.keys import WorkspaceId, own_workspace
from attractor_client.invocation import Flags, Json, Limit, Yes, confirm, connected, run, show_list, warn_if_readable
from attractor_client.output import Output
from attractor_client.rendering import local_time
from contracts.gateway import Role

app = typer.Typer(no_args_is_help=True, help="Invite people to a workspace, and accept invitations.")


@app.command()
@connected()
async def create(
    client: AttractorClient,
    output: Output,
    name: Annotated[str | None, typer.Argument(help="Name of the person; a new user gets it.")] = None,
    role: Annotated[Role, typer.Option(help="Role in the workspace.")] = Role.editor,
    note: Annotated[str | None, typer.Option(help="For the owners' list, such as an address; nothing is sent.")] = None,
    workspace: WorkspaceId = None,
    expires: Annotated[str | None, typer.Option(help=f"{EXPIRES} Default: seven days.")] = None,
) -> None:
    """Invite a person. Requires an owner's key.

    The one-time token is printed to stdout, only this once. No e-mail is sent: pass the token on yourself. Anyone who
    has it can use it, once.

    \b
    Example:
      attractor invitations create Ada --role editor --expires 2d
    """
    place = await own_workspace(client, workspace)
    expires_at = moment(expires) if expires else None
    made = await client.accounts.invite(place, role=role, name=name, note=note, expires_at=expires_at)
    if output.as_json:
        output.json(made)
        return
    output.note(f"{made.role.value}, until {local_time(made.expires_at)}, id {made.id}. It is not shown again.")
    output.note(f"Accept it with: attractor invitations accept --url {client.transport.url}")
    if made.link:
        output.note(f"Or in a browser: {made.link}")
    output.text(made.token)


@app.command("list")
@connected()
async def list_invitations(
    client: AttractorClient, output: Output, workspace: WorkspaceId = None, limit: Limit = 50
) -> None:
    """List a workspace's invitations, including those no longer open. Requires an owner's key."""
    await show_list(
        output,
        client.accounts.invitations(await own_workspace(client, workspace)),
        limit,
        ("id", "name", "note", "role", "status", "expires"),
        lambda one: (
            one.id,
            one.name or "",
            one.note or "",
            one.role.value,
            one.status.value,
            local_time(one.expires_at),
        ),
    )


@app.command()
@connected()
async def revoke(
    client: AttractorClient,
    output: Output,
    invitation_id: Annotated[UUID, typer.Argument(metavar="ID", help="The invitation's id, not its token.")],
    workspace: WorkspaceId = None,
    yes: Yes = False,
) -> None:
    """Revoke an invitation at once. Requires an owner's key."""
    confirm("Revoke this invitation?", output, yes)
    await client.accounts.revoke_invitation(await own_workspace(client, workspace), invitation_id)
    output.result({"revoked": invitation_id}, f"{invitation_id} revoked")


@app.command()
def accept(
    ctx: typer.Context,
    url: Annotated[str | None, typer.Option(help="Server URL; default: as for every command.")] = None,
    new: Annotated[bool, typer.Option("--new", help="Join as a new user, although a key is configured.")] = False,
    name: Annotated[str | None, typer.Option(help="Name of the new user; default: the one in the invitation.")] = None,
    key_name: Annotated[str, typer.Option(help="Name of the key.")] = "first key",
    workspace: Annotated[
        list[UUID] | None, typer.Option("--workspace", "-w", help="Further workspaces for the key to search.")
    ] = None,
    json: Json = False,
) -> None:
    """Accept an invitation. A key of the workspace is printed to stdout, only this once.

    Prompts for the token, or reads it from stdin if there is no terminal. With
    a configured key you join as its user, without one as a new user.

    \b
    Examples:
      attractor invitations accept --url https://attractor.example.org
      attractor invitations accept --new --name "Ada L." < token.txt | attractor login
    """
    stdin = typer.get_text_stream("stdin")
    token = typer.prompt("Token", hide_input=True, err=True) if stdin.isatty() else stdin.readline()
    flags = ctx.find_object(Flags) or Flags()
    ctx.obj = replace(flags, url=url or flags.url, anonymous=new)

    async def work(client: AttractorClient, output: Output) -> None:
        warn_if_readable(str(client.transport.url), "token", output)
        joined = await client.accounts.accept_invitation(
            token.strip(), name=name, key_name=key_name, workspaces=workspace or ()
        )
        if output.as_json:
            output.json(joined)
            return
        output.note(
            f"{joined.user.name} is {joined.role.value} in {joined.workspace.name}. "
            "Copy the key now, or give it to `attractor login`; it is not shown again."
        )
        output.text(joined.key.key)

    run(ctx, json, work)
