"""attractor operations"""

from __future__ import annotations

from typing import Annotated

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import Limit, connected, show_list
from attractor_client.output import Output
from attractor_client.rendering import local_time

app = typer.Typer(
    no_args_is_help=True,
    help="Show how far services are behind on events, and the events they gave up on. Requires an owner.",
)
Everywhere = Annotated[bool, typer.Option("--everywhere", help="All workspaces; requires an administrator.")]


@app.command()
@connected()
async def backlogs(client: AttractorClient, output: Output) -> None:
    """Show how many events each service has yet to receive or handle, and how old the oldest is."""
    found = await client.operations.backlogs()
    if output.as_json:
        output.json(found)
        return
    rows = [
        (one.service, one.stream, "?" if one.waiting is None else one.waiting, one.held, f"{one.oldest_seconds:.0f} s")
        for one in found
    ]
    output.table(("service", "stream", "waiting", "in hand", "oldest"), rows)


@app.command("dead-letters")
@connected()
async def dead_letters(
    client: AttractorClient, output: Output, everywhere: Everywhere = False, limit: Limit = 50
) -> None:
    """List the events that services gave up on, oldest first, with the reason."""
    await show_list(
        output,
        client.operations.dead_letters(everywhere=everywhere),
        limit,
        ("failed at", "id", "service", "event", "about", "reason"),
        lambda one: (local_time(one.failed_at), one.id, one.service, one.type or "", one.subject or "", one.reason),
    )


@app.command()
@connected()
async def replay(
    client: AttractorClient,
    output: Output,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Ids of dead letters; default: all.")
    ] = None,
    everywhere: Everywhere = False,
) -> None:
    """Replay dead letters. First fix what made them fail: `dead-letters` shows the reason.

    \b
    Examples:
      attractor operations dead-letters
      attractor operations replay
    """
    chosen = ids or [one.id async for one in client.operations.dead_letters(everywhere=everywhere)]
    replayed = await client.operations.replay(chosen, everywhere=everywhere)
    output.result({"replayed": replayed}, f"{replayed} delivered again")
