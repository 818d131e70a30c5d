"""attractor memory"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import Limit, Yes, confirm, connected, show_list
from attractor_client.memory_exports import read_export
from attractor_client.output import Output
from attractor_client.rendering import local_time
from contracts.memory import ImportRequest, MemoryKind, RecallRequest

app = typer.Typer(no_args_is_help=True, help="Recall, list, edit, add, import and delete memories.")
ONE_LINE = 120


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
        lambda one: (one.id, one.kind.value, local_time(one.created_at), _one_line(one.content)),
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
    output.json(memory) if output.as_json else output.text(f"{memory.id} stored")


@app.command()
@connected()
async def recall(
    client: AttractorClient,
    output: Output,
    query: Annotated[str, typer.Argument(help="What the memory is about.")],
    k: Annotated[int, typer.Option("-k", min=1, max=50, help="Number of memories to return.")] = 5,
    kind: Annotated[list[MemoryKind] | None, typer.Option(help="Only memories of these kinds.")] = None,
    as_of: Annotated[datetime | None, typer.Option(help="What held at this time, and was said until then.")] = None,
    explain: Annotated[bool, typer.Option(help="Show what the scores are made of (with --json).")] = False,
) -> None:
    """Find the memories that answer a question; a fact may answer it by itself.

    \b
    Example:
      attractor memory recall "Where do I live?" --as-of 2026-05-01
    """
    when = as_of.astimezone() if as_of else None
    request = RecallRequest(query=query, k=k, kinds=kind or [], as_of=when, explain=explain)
    found = await client.memories.ask(request)
    if output.as_json:
        output.json(found.memories)
        return
    if found.answer is not None:
        output.text(found.answer.text)
    rows = [(one.id, f"{one.score:.3f}", local_time(one.said_at), _one_line(one.content)) for one in found.memories]
    output.table(("id", "score", "at", "content"), rows)


@app.command()
@connected()
async def edit(
    client: AttractorClient,
    output: Output,
    memory_id: Annotated[UUID, typer.Argument(metavar="ID", help="The memory's id.")],
    content: Annotated[str, typer.Argument(help="Its new text.")],
) -> None:
    """Give a note or a fact another text. What was said stays as it was said."""
    edited = await client.memories.edit(memory_id, content)
    output.json(edited) if output.as_json else output.text(f"{edited.id} edited")


@app.command("import")
@connected()
async def import_file(
    client: AttractorClient,
    output: Output,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A JSON file.")],
    time_zone: Annotated[str, typer.Option(help="The zone of times without one.")] = "UTC",
) -> None:
    """Import conversations: an export of ChatGPT (conversations.json) or of mem0, or a list of conversations.

    A conversation is {"id", "messages": [{"id", "role", "speaker", "content", "at"}]}. An import that broke off is
    started again; what is there already is left as it is.

    \b
    Example:
      attractor memory import conversations.json
    """
    exported = read_export(file.read_text("utf-8"))
    added = known = facts = 0
    for conversation in exported.conversations:
        taken = await client.memories.take(
            ImportRequest(source=exported.source, time_zone=time_zone, conversations=[conversation])
        )
        added, known, facts = added + taken.added, known + taken.known, facts + taken.facts
    counts = {"added": added, "known": known, "facts": facts}
    output.json(counts) if output.as_json else output.text(f"{added} messages added, {known} known, {facts} facts")


@app.command()
@connected()
async def delete(
    client: AttractorClient,
    output: Output,
    memory_id: Annotated[UUID, typer.Argument(metavar="ID", help="The memory's id.")],
    yes: Yes = False,
) -> None:
    """Delete a memory permanently."""
    confirm("Delete this memory?", output, yes)
    await client.memories.delete(memory_id)
    output.json({"deleted": memory_id}) if output.as_json else output.text(f"{memory_id} deleted")


def _one_line(content: str) -> str:
    line = " ".join(content.split())
    return line if len(line) <= ONE_LINE else f"{line[: ONE_LINE - 1]}…"
