"""attractor memory"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.progress import track

from attractor_client.client import AttractorClient
from attractor_client.commands.receipts import counts
from attractor_client.commands.written_files import OutputFile, write_parts
from attractor_client.invocation import Limit, Yes, confirm, connected, show_list
from attractor_client.local_zone import local_zone
from attractor_client.memory_exports import read_export
from attractor_client.output import Output
from attractor_client.rendering import local_time, one_line
from contracts.memory import (
    ForgetRequest,
    ForgetResponse,
    ImportRequest,
    ImportResponse,
    Memory,
    MemoryKind,
    MemorySettings,
    RecallRequest,
    TakenMemory,
)

app = typer.Typer(
    no_args_is_help=True, help="Recall, list, add, edit, review, pin, import, export, forget and delete memories."
)
SHOWN_CHARACTERS = 120
WHEN_KEPT = {"on": "at once", "review": "after a review", "off": "not at all"}
REASONS = {
    "mentions": "mentions it",
    "answers": "answers it",
    "words": "has its words",
    "session": "said there",
    "id": "named",
    "along": "goes along",
}


class Writing(StrEnum):
    """How facts are kept."""

    on = "on"
    review = "review"
    off = "off"


@app.command("list")
@connected()
async def list_memories(
    client: AttractorClient,
    output: Output,
    kind: Annotated[MemoryKind | None, typer.Option(help="Only memories of this kind.")] = None,
    limit: Limit = 50,
) -> None:
    """List memories, newest first."""
    await show_list(
        output,
        client.memories.all(kind=kind),
        limit,
        ("id", "kind", "at", "content"),
        lambda one: (one.id, one.kind.value, local_time(one.created_at), one_line(one.content, SHOWN_CHARACTERS)),
    )


@app.command()
@connected()
async def add(
    client: AttractorClient, output: Output, content: Annotated[str, typer.Argument(help="What to remember.")]
) -> None:
    """Add a note.

    \b
    Example:
      attractor memory add "The billing migration is frozen until March."
    """
    memory = await client.memories.add(content)
    output.result(memory, f"{memory.id} stored")


@app.command()
@connected()
async def recall(
    client: AttractorClient,
    output: Output,
    query: Annotated[str, typer.Argument(help="What the memory is about.")],
    k: Annotated[int, typer.Option("-k", min=1, max=50, help="Number of memories to return.")] = 5,
    kind: Annotated[list[MemoryKind] | None, typer.Option(help="Only memories of these kinds.")] = None,
    as_of: Annotated[datetime | None, typer.Option(help="Facts that held at this time, messages until then.")] = None,
    explain: Annotated[bool, typer.Option(help="Show what the scores are made of (with --json).")] = False,
) -> None:
    """Find the memories that answer a question; a fact may answer it by itself.

    \b
    Example:
      attractor memory recall "Where do I live?" --as-of 2026-05-01
    """
    when = as_of.astimezone() if as_of else None
    request = RecallRequest(query=query, k=k, kinds=kind or [], as_of=when, explain=explain, time_zone=local_zone())
    found = await client.memories.ask(request)
    if output.as_json:
        output.json({"answer": found.answer, "memories": found.memories})
        return
    if reply := found.answer or found.unanswered:
        output.text(reply.text)
    rows = [
        (one.id, f"{one.score:.3f}", local_time(one.said_at), one_line(one.content, SHOWN_CHARACTERS))
        for one in found.memories
    ]
    output.table(("id", "score", "at", "content"), rows)


@app.command()
@connected()
async def edit(
    client: AttractorClient,
    output: Output,
    memory_id: Annotated[
        UUID, typer.Argument(metavar="ID", help="The memory's id, as `attractor memory list` shows it.")
    ],
    content: Annotated[str, typer.Argument(help="Its new text.")],
) -> None:
    """Change the text of a note or a fact. Messages cannot be edited."""
    edited = await client.memories.edit(memory_id, content)
    output.result(edited, f"{edited.id} edited")


@app.command()
@connected()
async def pin(
    client: AttractorClient,
    output: Output,
    memory_id: Annotated[
        UUID, typer.Argument(metavar="ID", help="The memory's id, as `attractor memory list` shows it.")
    ],
    off: Annotated[bool, typer.Option("--off", help="Unpin it.")] = False,
) -> None:
    """Keep a memory for good: the workspace's retention does not delete it."""
    memory = await client.memories.pin(memory_id, pinned=not off)
    output.result(memory, f"{memory.id} {'unpinned' if off else 'pinned'}")


@app.command()
@connected()
async def review(client: AttractorClient, output: Output, limit: Limit = 50) -> None:
    """List your facts that await review; `approve` makes them available to recall, `delete` drops them.

    \b
    Example:
      attractor memory review
    """

    async def waiting() -> AsyncIterator[Memory]:
        async for one in client.memories.all():
            if one.fact is not None and not one.fact.approved:
                yield one

    await show_list(
        output,
        waiting(),
        limit,
        ("id", "kind", "at", "content"),
        lambda one: (one.id, one.kind.value, local_time(one.said_at), one_line(one.content, SHOWN_CHARACTERS)),
    )


@app.command()
@connected()
async def approve(
    client: AttractorClient,
    output: Output,
    memory_ids: Annotated[list[UUID], typer.Argument(metavar="ID...", help="Facts that await review.")],
) -> None:
    """Approve facts that await review, so that they are recalled; each supersedes the fact it replaces.

    \b
    Example:
      attractor memory approve 0198f0c2-7f00-7000-8000-000000000001
    """
    approved = [await client.memories.approve(one) for one in memory_ids]
    output.result(approved, f"{len(approved)} approved")


@app.command()
@connected()
async def forget(
    client: AttractorClient,
    output: Output,
    about: Annotated[str | None, typer.Argument(help="Everything that mentions this; case does not matter.")] = None,
    query: Annotated[
        str | None, typer.Option(help="Everything that answers this question and has its names and words.")
    ] = None,
    session: Annotated[UUID | None, typer.Option(help="Everything said in this session.")] = None,
    ids: Annotated[list[UUID] | None, typer.Option("--id", help="A memory by its id; repeatable.")] = None,
    preview: Annotated[bool, typer.Option("--preview", help="Only show what would be forgotten.")] = False,
    yes: Yes = False,
) -> None:
    """Forget what is known about someone or something, with everything derived from it.

    Shows what will be forgotten and why, and asks first. Messages that state a forgotten fact are forgotten with it.
    Session transcripts stay: the receipt names those that still contain it, for `attractor sessions delete`.

    \b
    Examples:
      attractor memory forget "Project Walrus" --preview
      attractor memory forget --query "Where do I live?" --yes
    """
    if sum([about is not None, query is not None, session is not None, bool(ids)]) != 1:
        raise typer.BadParameter("name one of ABOUT, --query, --session and --id")
    request = ForgetRequest(about=about, query=query, session_id=session, ids=ids or [], preview=True)
    found = await client.memories.forget(request)
    if preview or not sum(found.removed.values()):
        _show_forgotten(output, found)
        return
    if not output.as_json:
        _show_forgotten(output, found)
    confirm("Forget all of this for good?", output, yes)
    _show_forgotten(output, await client.memories.forget(request.model_copy(update={"preview": False})))


def _show_forgotten(output: Output, found: ForgetResponse) -> None:
    """Prints the preview, or the receipt."""
    if output.as_json:
        output.json(found)
        return
    if found.memories:
        rows = [
            (one.id, one.kind.value, local_time(one.said_at), _reason(one), one_line(one.content, SHOWN_CHARACTERS))
            for one in found.memories
        ]
        output.table(("id", "kind", "at", "why", "content"), rows)
    output.text(("To forget: " if found.preview else "Forgotten: ") + counts(found.removed))
    if any(found.remaining.values()):
        output.text(f"Left in place, since only editors may change it: {counts(found.remaining)}")
    if found.transcripts.messages:
        output.text(f"Messages that remain in session transcripts: {found.transcripts.messages}. To delete them:")
        for session_id in found.transcripts.sessions:
            output.text(f"  attractor sessions delete {session_id}")


def _reason(taken: TakenMemory) -> str:
    return f"has {', '.join(taken.words)}" if taken.words else REASONS[taken.why]


@app.command()
@connected()
async def export(
    client: AttractorClient,
    output: Output,
    file: OutputFile,
) -> None:
    """Write everything that is known about you to a file, as JSON Lines.

    \b
    Example:
      attractor memory export memories.jsonl
    """
    async with client.memories.export() as parts:
        await write_parts(output, file, parts)


@app.command()
@connected()
async def settings(
    client: AttractorClient,
    output: Output,
    writing: Annotated[Writing | None, typer.Option(help="Keep facts at once, after a review, or not at all.")] = None,
    retention_days: Annotated[
        int | None, typer.Option(min=0, max=36_500, help="Forget what is older; 0 keeps everything.")
    ] = None,
) -> None:
    """Show how the workspace keeps memories, or change it (owners only).

    \b
    Example:
      attractor memory settings --retention-days 365
    """
    found = await client.memories.settings()
    if writing is not None or retention_days is not None:
        days = found.retention_days if retention_days is None else retention_days or None
        wanted = MemorySettings(writing=writing.value if writing else found.writing, retention_days=days)
        found = await client.memories.set_settings(wanted)
    kept = f"for {found.retention_days} days" if found.retention_days else "until forgotten"
    output.result(found, f"facts are kept {WHEN_KEPT[found.writing]}; memories are kept {kept}")


@app.command("import")
@connected()
async def import_file(
    client: AttractorClient,
    output: Output,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A JSON file.")],
    time_zone: Annotated[
        str | None,
        typer.Option(
            help='The time zone of times that have none, and of what "today" meant. Default: this machine\'s.'
        ),
    ] = None,
) -> None:
    """Import conversations: an export of ChatGPT (conversations.json) or of mem0, or a list of conversations.

    A conversation is {"id", "messages": [{"id", "role", "speaker", "content", "at"}]}; the role is user, assistant or
    speaker (someone else, with a name in "speaker"), and "at" a time such as 2026-05-01T09:30. What users and speakers
    state becomes facts. An interrupted import can simply be repeated: what was already imported is left as it is.

    \b
    Example:
      attractor memory import conversations.json
    """
    exported, zone = read_export(file.read_text("utf-8")), time_zone or local_zone()
    taken, parts = list[ImportResponse](), exported.conversations
    try:
        for part in track(parts, "importing", console=output.notes, disable=not output.notes.is_terminal):
            request = ImportRequest(source=exported.source, time_zone=zone, conversations=[part])
            taken.append(await client.memories.take(request))
    finally:
        if len(taken) < len(parts):
            output.note(f"{len(taken)} of {len(parts)} parts are imported; repeat the command for the rest", "yellow")
    added, known, facts = (sum(getattr(one, name) for one in taken) for name in ("added", "known", "facts"))
    output.result(
        {"added": added, "known": known, "facts": facts},
        f"{added} messages imported, {known} were there before; {facts} facts learned",
    )


@app.command()
@connected()
async def delete(
    client: AttractorClient,
    output: Output,
    memory_id: Annotated[
        UUID, typer.Argument(metavar="ID", help="The memory's id, as `attractor memory list` shows it.")
    ],
    yes: Yes = False,
) -> None:
    """Delete a memory permanently."""
    confirm("Delete this memory?", output, yes)
    await client.memories.delete(memory_id)
    output.result({"deleted": memory_id}, f"{memory_id} deleted")
