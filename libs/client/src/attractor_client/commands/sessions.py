"""attractor sessions"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import Limit, Yes, at_most, confirm, connected, show_list
from attractor_client.output import Output
from attractor_client.rendering import citation_line, local_time
from contracts.orchestrator import MessageRole

app = typer.Typer(no_args_is_help=True, help="Manage sessions and their attached documents.")
SessionId = Annotated[UUID, typer.Argument(metavar="ID", help="The session's id.")]
DocumentIds = Annotated[list[UUID], typer.Argument(metavar="DOCUMENT...", help="Document ids.")]


@app.command("list")
@connected()
async def list_sessions(client: AttractorClient, output: Output, limit: Limit = 50) -> None:
    """List sessions, most recently used first."""
    found = await at_most(limit, client.sessions.all())
    if output.as_json:
        output.json(found)
        return
    output.table(
        ("id", "title", "last used"), [(one.id, one.title or "-", local_time(one.updated_at)) for one in found]
    )


@app.command()
@connected()
async def show(client: AttractorClient, output: Output, session_id: SessionId) -> None:
    """Show a session's messages and their citations."""
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


@app.command()
@connected()
async def rename(
    client: AttractorClient,
    output: Output,
    session_id: SessionId,
    title: Annotated[str, typer.Argument(help="The new title.")],
) -> None:
    """Rename a session.

    \b
    Example:
      attractor sessions rename 2f0c... "Outage of UserDB"
    """
    session = await client.sessions.rename(session_id, title)
    output.json(session) if output.as_json else output.text(f"{session.id} {session.title}")


@app.command()
@connected()
async def delete(client: AttractorClient, output: Output, session_id: SessionId, yes: Yes = False) -> None:
    """Delete a session with its messages and runs."""
    confirm("Delete this session with its messages?", output, yes)
    await client.sessions.delete(session_id)
    output.json({"deleted": session_id}) if output.as_json else output.text(f"{session_id} deleted")


@app.command()
@connected()
async def documents(client: AttractorClient, output: Output, session_id: SessionId, limit: Limit = 50) -> None:
    """List the documents that are attached to a session."""
    await show_list(
        output,
        client.sessions.documents(session_id),
        limit,
        ("id", "attached"),
        lambda one: (one.document_id, local_time(one.attached_at)),
    )


@app.command()
@connected()
async def attach(client: AttractorClient, output: Output, session_id: SessionId, document_ids: DocumentIds) -> None:
    """Attach documents to a session, for `attractor search --session ID` and its questions.

    \b
    Example:
      attractor sessions attach 2f0c... 77ab...
    """
    attached = [await client.sessions.attach(session_id, one) for one in document_ids]
    output.json(attached) if output.as_json else output.text(f"{len(attached)} attached")


@app.command()
@connected()
async def detach(client: AttractorClient, output: Output, session_id: SessionId, document_ids: DocumentIds) -> None:
    """Detach documents from a session; they stay in the workspace."""
    for one in document_ids:
        await client.sessions.detach(session_id, one)
    output.json({"detached": document_ids}) if output.as_json else output.text(f"{len(document_ids)} detached")
