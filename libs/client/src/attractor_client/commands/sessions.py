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

app = typer.Typer(no_args_is_help=True, help="Conversations, and the documents attached to them.")
SessionId = Annotated[UUID, typer.Argument(metavar="ID", help="The session's id.")]
DocumentIds = Annotated[list[UUID], typer.Argument(metavar="DOCUMENT...", help="Ids of documents.")]


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


@app.command()
def documents(ctx: typer.Context, session_id: SessionId, limit: Limit = 50, json: Json = False) -> None:
    """List the documents that are attached to a session."""

    async def work(client: AttractorClient, output: Output) -> None:
        found = await at_most(limit, client.sessions.documents(session_id))
        if output.as_json:
            output.json(found)
            return
        output.table(("id", "attached"), [(one.document_id, local_time(one.attached_at)) for one in found])

    run(ctx, json, work)


@app.command()
def attach(ctx: typer.Context, session_id: SessionId, document_ids: DocumentIds, json: Json = False) -> None:
    """Attach documents to a session, for `attractor search --session ID` and its questions.

    \b
    Example:
      attractor sessions attach 2f0c... 77ab...
    """

    async def work(client: AttractorClient, output: Output) -> None:
        attached = [await client.sessions.attach(session_id, one) for one in document_ids]
        output.json(attached) if output.as_json else output.text(f"{len(attached)} attached")

    run(ctx, json, work)


@app.command()
def detach(ctx: typer.Context, session_id: SessionId, document_ids: DocumentIds, json: Json = False) -> None:
    """Detach documents from a session; they stay in the workspace."""

    async def work(client: AttractorClient, output: Output) -> None:
        for one in document_ids:
            await client.sessions.detach(session_id, one)
        output.json({"detached": document_ids}) if output.as_json else output.text(f"{len(document_ids)} detached")

    run(ctx, json, work)
