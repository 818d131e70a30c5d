"""attractor sessions share, shares, unshare, shared"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.commands.expiry import EXPIRES, moment
from attractor_client.invocation import Limit, connected, show_list
from attractor_client.output import Output
from attractor_client.rendering import local_time
from contracts.locations import location
from contracts.orchestrator import MessageRole
from contracts.sharing import ShareAudience, SharedCitation, SharedMessage


@connected()
async def share(
    client: AttractorClient,
    output: Output,
    session_id: Annotated[UUID, typer.Argument(metavar="ID", help="The session's id.")],
    message: Annotated[UUID | None, typer.Option(help="The last message to share; default: the newest.")] = None,
    link: Annotated[
        bool, typer.Option("--link", help="Share with anyone who has the link, if an owner allows that.")
    ] = False,
    expires: Annotated[str, typer.Option(help=EXPIRES)] = "30d",
) -> None:
    """Share a session read-only, as it is now, with the members of the workspace.

    With --link no key is needed, and answers come without quotes from documents. The token is shown only once. Later
    messages are not shared.

    \b
    Examples:
      attractor sessions share 2f0c...
      attractor sessions share 2f0c... --link --expires 7d
    """
    audience = ShareAudience.link if link else ShareAudience.members
    made = await client.shares.create(session_id, message_id=message, audience=audience, expires_at=moment(expires))
    if output.as_json:
        output.json(made.model_dump(mode="json") | {"url": client.shares.url(made.token)})
        return
    output.text(client.shares.url(made.token), "bold")
    readers = "whoever has this link" if link else "members of the workspace with their key,"
    output.text(f"share {made.id} · read by {readers} until {local_time(made.expires_at)}", "dim")


@connected()
async def shares(
    client: AttractorClient,
    output: Output,
    session: Annotated[UUID | None, typer.Option(help="Only this session's.")] = None,
    limit: Limit = 50,
) -> None:
    """List what you share, newest first."""
    await show_list(
        output,
        client.shares.all(session),
        limit,
        ("id", "session", "title", "read by", "until"),
        lambda one: (one.id, one.session_id, one.title or "-", one.audience, local_time(one.expires_at)),
    )


@connected()
async def unshare(
    client: AttractorClient,
    output: Output,
    share_ids: Annotated[list[UUID], typer.Argument(metavar="SHARE...", help="Ids of shares.")],
) -> None:
    """End shares: nobody can read them any more."""
    for one in share_ids:
        await client.shares.end(one)
    output.result({"ended": share_ids}, f"{len(share_ids)} ended")


@connected()
async def shared(
    client: AttractorClient,
    output: Output,
    token: Annotated[str, typer.Argument(help="The token, or the link that ends with it.")],
) -> None:
    """Read a session shared with you."""
    session = await client.shares.read(token.rstrip("/").rpartition("/")[2])
    if output.as_json:
        output.json(session)
        return
    output.text(session.title or "(no title)", "bold")
    for message in session.messages:
        output.text()
        is_question = message.role is MessageRole.user
        output.text(_text(message), "cyan" if is_question else "")
        for citation in message.citations:
            output.text(_line(citation), "dim")


def _text(message: SharedMessage) -> str:
    if message.role is MessageRole.user:
        return f"> {message.content}"
    if message.withheld:
        return "(this answer quotes documents, and is not shared by link)"
    return message.content or f"({message.status.value})"


def _line(citation: SharedCitation) -> str:
    where = location(citation.section, citation.page, citation.line_start, citation.line_end)
    named = ", ".join(part for part in (citation.document_name, where) if part)
    quoted = f": “{' '.join(citation.quote.split())}”" if citation.quote else ""
    return f"[{citation.number}] {named}{quoted}"
