"""attractor sessions"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import Json, Limit, Yes, at_most, confirm, run
from attractor_client.output import Output
from attractor_client.rendering import citation_line, local_time
from contracts.orchestrator import MessageRole

app = typer.Typer(no_args_is_help=True, help="List, show, rename and delete conversations.")
SessionId = Annotated[UUID, typer.Argument(metavar="ID", help="The session's id.")]


@app.command("list")
def list_sessions(ctx: typer.Context, limit: Limit = 50, json: Json = False) -> None:
    """List sessions, the one used last first."""

    async def work(client: AttractorClient, output: Output) -> None:
        found = await at_most(limit, client.sessions.all())
        if output.as_json:
            output.json(found)
            return
        output.table(
            ("id", "title", "last used"), [(one.id, one.title or "-", local_time(one.updated_at)) for one in found]
        )

    run(ctx, json, work)


@app.command()
def show(ctx: typer.Context, session_id: SessionId, json: Json = False) -> None:
    """Show a session's messages with their citations."""

    async def work(client: AttractorClient, output: Output) -> None:
        session = await client.sessions.get(session_id)
        messages = [message async for message in client.sessions.messages(session_id)]
        if output.as_json:
            output.json({"session": session, "messages": messages})
            return
        output.text(session.title or "(no title)", "bold")
        for message in messages:
            output.text()
            asked = message.role is MessageRole.user
            output.text(f"> {message.content}" if asked else message.content, "cyan" if asked else "")
            for citation in message.citations:
                output.text(citation_line(citation), "dim")

    run(ctx, json, work)


@app.command()
def rename(
    ctx: typer.Context,
    session_id: SessionId,
    title: Annotated[str, typer.Argument(help="The new title.")],
    json: Json = False,
) -> None:
    """Give a session another title.

    \b
    Example:
      attractor sessions rename 2f0c... "Outage of UserDB"
    """

    async def work(client: AttractorClient, output: Output) -> None:
        session = await client.sessions.rename(session_id, title)
        output.json(session) if output.as_json else output.text(f"{session.id} {session.title}")

    run(ctx, json, work)


@app.command()
def delete(ctx: typer.Context, session_id: SessionId, yes: Yes = False, json: Json = False) -> None:
    """Delete a session with its messages and runs."""

    async def work(client: AttractorClient, output: Output) -> None:
        confirm("Delete this session with its messages?", output, yes)
        await client.sessions.delete(session_id)
        output.json({"deleted": session_id}) if output.as_json else output.text(f"{session_id} deleted")

    run(ctx, json, work)
