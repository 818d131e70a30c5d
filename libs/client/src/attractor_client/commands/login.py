"""attractor login"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Annotated

import typer

from attractor_client.client import AttractorClient
from attractor_client.configuration import DEFAULT_URL, save
from attractor_client.errors import Unauthenticated
from attractor_client.invocation import Flags, Json, run
from attractor_client.output import Output


def login(
    ctx: typer.Context,
    url: Annotated[str | None, typer.Option(help=f"Server URL; default: ATTRACTOR_URL, or {DEFAULT_URL}.")] = None,
    json: Json = False,
) -> None:
    """Check an API key and save it with the server's URL in a file that only you can read.

    Prompts for the key, or reads it from stdin if there is no terminal.

    \b
    Examples:
      attractor login
      attractor login --url https://attractor.example.org < key.txt
    """
    flags = ctx.find_object(Flags) or Flags()
    stdin = typer.get_text_stream("stdin")
    asks, usual = stdin.isatty(), os.environ.get("ATTRACTOR_URL") or DEFAULT_URL
    server = url or flags.url or (typer.prompt("URL", default=usual, err=True) if asks else usual)
    key = flags.api_key or (typer.prompt("API key", hide_input=True, err=True) if asks else stdin.readline())
    ctx.obj = replace(flags, url=server.strip(), api_key=key.strip())

    async def work(client: AttractorClient, output: Output) -> None:
        if not key.strip():
            raise Unauthenticated("No API key given")
        caller = await client.accounts.me()
        file = save(server.strip(), key.strip())
        who = f"{caller.user.name}, {caller.role.value} in {caller.workspace.name}"
        output.result({"file": file, "caller": caller}, f"{who}; kept in {file}")

    run(ctx, json, work)
