"""The attractor command."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from attractor_client.commands import (
    artifacts,
    documents,
    evaluation,
    feedback,
    graph,
    invitations,
    keys,
    memories,
    operations,
    passwords,
    presets,
    quick_actions,
    runs,
    search_settings,
    sessions,
    settings,
    sources,
    spaces,
    users,
    workspaces,
    world,
)
from attractor_client.commands.ask import ask
from attractor_client.commands.audit import audit
from attractor_client.commands.chat import chat
from attractor_client.commands.context import context
from attractor_client.commands.events import events
from attractor_client.commands.ingest import ingest
from attractor_client.commands.login import login
from attractor_client.commands.mcp import mcp
from attractor_client.commands.models import models
from attractor_client.commands.search import search
from attractor_client.commands.status import status
from attractor_client.commands.usage import usage
from attractor_client.invocation import EXIT_CODES, FAILED, Flags
from attractor_client.version import VERSION

app = typer.Typer(
    name="attractor",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    epilog=EXIT_CODES,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"attractor {VERSION}")
        raise typer.Exit


@app.callback()
def attractor(
    ctx: typer.Context,
    url: Annotated[
        str | None, typer.Option(help="Server URL; default: ATTRACTOR_URL, then the one saved by `login`.")
    ] = None,
    api_key: Annotated[
        str | None, typer.Option(help="API key; default: ATTRACTOR_API_KEY, then the one saved by `login`.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON to stdout and nothing else.")] = False,
    version: Annotated[  # noqa: ARG001  its callback answers
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Ingest documents, search them, and ask questions; every answer carries checked citations.

    \b
    Examples:
      attractor login
      attractor ingest docs/
      attractor ask "Who decided to drop the nightly export, and why?"
    """
    ctx.obj = Flags(url, api_key, json)


for command in (ingest, ask, chat, search, context, status, events, audit, usage, models, login, mcp):
    app.command()(command)
for name, group in (
    ("documents", documents.app),
    ("sources", sources.app),
    ("search-settings", search_settings.app),
    ("settings", settings.app),
    ("presets", presets.app),
    ("eval", evaluation.app),
    ("sessions", sessions.app),
    ("artifact", artifacts.app),
    ("quick-actions", quick_actions.app),
    ("feedback", feedback.app),
    ("runs", runs.app),
    ("graph", graph.app),
    ("memory", memories.app),
    ("world", world.app),
    ("keys", keys.app),
    ("invitations", invitations.app),
    ("operations", operations.app),
    ("users", users.app),
    ("password", passwords.app),
    ("spaces", spaces.app),
    ("workspaces", workspaces.app),
):
    app.add_typer(group, name=name)
app.add_typer(memories.app, name="memories", hidden=True)  # its name until 0.2


def main() -> None:
    """Runs the command line. Errors never print a traceback, unless ATTRACTOR_DEBUG is set."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app()
    except Exception as error:  # the outermost boundary
        if os.environ.get("ATTRACTOR_DEBUG"):
            raise
        print(f"Error: {type(error).__name__}: {error} (a bug; ATTRACTOR_DEBUG=1 shows where)", file=sys.stderr)
        sys.exit(FAILED)
