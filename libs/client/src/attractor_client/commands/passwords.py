"""attractor password"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import connected
from attractor_client.output import Output
from attractor_client.rendering import local_time

app = typer.Typer(no_args_is_help=True, help="Set passwords, which users sign in with in a browser.")


@app.command("set")
@connected()
async def set_password(
    client: AttractorClient,
    output: Output,
    old: Annotated[bool, typer.Option("--old/--first", help="Whether there is a password already.")] = False,
) -> None:
    """Set your own password.

    Prompts for it, or reads it from stdin if there is no terminal: with --old, the old one first, on a line of its own.
    Administrators set their first password with their key; everyone else uses an invitation, or a link from `attractor
    password link`.
    """
    stdin = typer.get_text_stream("stdin")

    def prompted(prompt: str, confirmed: bool) -> str:
        if not stdin.isatty():
            return stdin.readline().rstrip("\r\n")
        answer: str = typer.prompt(prompt, hide_input=True, confirmation_prompt=confirmed, err=True)
        return answer

    present = prompted("Old password", False) if old else None
    await client.accounts.set_password(prompted("New password", True), present)
    output.result({"set": True}, "password set; other web sessions have ended")


@app.command()
@connected()
async def link(
    client: AttractorClient,
    output: Output,
    user_id: Annotated[UUID, typer.Argument(metavar="ID", help="The user's id.")],
) -> None:
    """Print a one-time token that lets a user set a password. Requires an administrator's key."""
    made = await client.accounts.create_password_link(user_id)
    if output.as_json:
        output.json(made)
        return
    output.note(f"Good once, until {local_time(made.expires_at)}. Hand it to the user; it is not shown again.")
    output.text(made.token)
