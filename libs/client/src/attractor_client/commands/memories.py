"""attractor memories"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import Limit, Yes, confirm, connected, show_list
from attractor_client.output import Output
from attractor_client.rendering import local_time
from contracts.memory import MemoryKind

app = typer.Typer(no_args_is_help=True, help="List, add, recall and delete memories.")
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
      attractor memories add "The billing migration is frozen until March."
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
) -> None:
    """Find the memories closest in meaning."""
    found = await client.memories.recall(query, k=k)
    if output.as_json:
        output.json(found)
        return
    rows = [(one.id, f"{one.score:.3f}", local_time(one.created_at), _one_line(one.content)) for one in found]
    output.table(("id", "score", "at", "content"), rows)


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
