"""attractor sessions"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.commands.receipts import counts
from attractor_client.commands.shares import share, shared, shares, unshare
from attractor_client.commands.written_files import OutputFile, format_of, write_parts
from attractor_client.invocation import FAILED, Limit, Yes, confirm, connected, show_list
from attractor_client.output import Output
from attractor_client.rendering import citation_line, local_time, marked
from contracts.orchestrator import MessageRole, TranscriptFormat

app = typer.Typer(no_args_is_help=True, help="Manage sessions and their attached documents.")
SessionId = Annotated[UUID, typer.Argument(metavar="ID", help="The session's id.")]
Undo = Annotated[bool, typer.Option("--undo", help="Undo it.")]
TRANSCRIPTS = {".md": TranscriptFormat.markdown, ".json": TranscriptFormat.json}
DocumentIds = Annotated[list[UUID], typer.Argument(metavar="DOCUMENT...", help="Document ids.")]


@app.command("list")
@connected()
async def list_sessions(
    client: AttractorClient,
    output: Output,
    archived: Annotated[bool, typer.Option("--archived", help="List archived sessions instead.")] = False,
    pinned: Annotated[bool, typer.Option("--pinned", help="Only pinned sessions.")] = False,
    limit: Limit = 50,
) -> None:
    """List sessions: pinned ones first, then the most recently used."""
    await show_list(
        output,
        client.sessions.all(archived=archived, pinned=pinned or None),
        limit,
        ("id", "title", "last used", ""),
        lambda one: (one.id, one.title or "-", local_time(one.updated_at), "pinned" if one.pinned else ""),
    )


@app.command()
@connected()
async def search(
    client: AttractorClient,
    output: Output,
    query: Annotated[str, typer.Argument(help="Words; the last one may be the beginning of a word.")],
    limit: Limit = 20,
) -> None:
    """Find titles and messages that contain all the words, newest first.

    \b
    Examples:
      attractor sessions search "billing outage"
      attractor sessions search '"refresh tokens" -draft'
    """
    await show_list(
        output,
        client.sessions.search(query),
        limit,
        ("session", "title", "written", "found"),
        lambda one: (one.session_id, one.title or "-", local_time(one.written_at), one.snippet),
    )


@app.command()
@connected()
async def show(
    client: AttractorClient,
    output: Output,
    session_id: SessionId,
    last: Annotated[int | None, typer.Option(min=1, help="Only the newest messages.")] = None,
) -> None:
    """Show a session's messages and their citations."""
    session = await client.sessions.get(session_id)
    messages = [message async for message in client.sessions.messages(session_id, last=last)]
    if output.as_json:
        output.json({"session": session, "messages": messages})
        return
    output.text(session.title or "(no title)", "bold")
    for message in messages:
        output.text()
        is_question = message.role is MessageRole.user
        output.text(
            f"> {message.content}" if is_question else marked(message.content, message.sentences),
            "cyan" if is_question else "",
        )
        for citation in message.citations:
            output.text(citation_line(citation), "dim")
        if not is_question:
            rated = f" · rated {message.feedback.rating}" if message.feedback else ""
            output.text(f"answer {message.id}{rated}", "dim")


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
    output.result(session, f"{session.id} {session.title}")


@app.command()
@connected()
async def pin(client: AttractorClient, output: Output, session_id: SessionId, undo: Undo = False) -> None:
    """Keep a session at the front of the list."""
    session = await client.sessions.pin(session_id, not undo)
    done = "pinned" if session.pinned else "no longer pinned"
    output.result(session, f"{session.id} {done}")


@app.command()
@connected()
async def archive(client: AttractorClient, output: Output, session_id: SessionId, undo: Undo = False) -> None:
    """Remove a session from the list; it can still be read and continued."""
    session = await client.sessions.archive(session_id, not undo)
    done = "archived" if session.archived else "no longer archived"
    output.result(session, f"{session.id} {done}")


@app.command()
@connected()
async def export(
    client: AttractorClient,
    output: Output,
    session_id: SessionId,
    file: OutputFile,
    format: Annotated[TranscriptFormat | None, typer.Option(help="Default: from the file's extension.")] = None,
) -> None:
    """Write a session with its citations to a file: Markdown, or JSON.

    \b
    Examples:
      attractor sessions export 2f0c... outage.md
      attractor sessions export 2f0c... --format json - | jq '.messages[].citations'
    """
    kind = format_of(file, format, TRANSCRIPTS)
    async with client.sessions.export(session_id, kind) as parts:
        await write_parts(output, file, parts)


@app.command()
@connected()
async def delete(client: AttractorClient, output: Output, session_id: SessionId, yes: Yes = False) -> None:
    """Delete a session with everything in it, and show what was deleted.

    Memories that come only from this session are deleted soon after.
    """
    confirm("Delete this session with its messages?", output, yes)
    receipt = await client.sessions.delete(session_id)
    if output.as_json:
        output.json(receipt)
    else:
        output.text(f"{session_id} deleted", "bold")
        output.table(("removed", "left"), [(counts(receipt.removed), counts(receipt.remaining))])
    if any(receipt.remaining.values()):
        raise typer.Exit(FAILED)


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
    """Attach documents to a session: its answers, and `attractor search --session ID`, draw only on them.

    \b
    Example:
      attractor sessions attach 2f0c... 77ab...
    """
    attached = [await client.sessions.attach(session_id, one) for one in document_ids]
    output.result(attached, f"{len(attached)} attached")


@app.command()
@connected()
async def detach(client: AttractorClient, output: Output, session_id: SessionId, document_ids: DocumentIds) -> None:
    """Detach documents from a session; they stay in the workspace."""
    for one in document_ids:
        await client.sessions.detach(session_id, one)
    output.result({"detached": document_ids}, f"{len(document_ids)} detached")


for command in (share, shares, unshare, shared):
    app.command()(command)
