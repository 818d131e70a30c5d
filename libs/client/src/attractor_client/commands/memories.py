"""attractor memories"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import Json, Limit, Yes, at_most, confirm, run
from attractor_client.output import Output
from attractor_client.rendering import local_time
from contracts.memory import MemoryKind

app = typer.Typer(no_args_is_help=True, help="What the system remembers for you.")
ONE_LINE = 120


@app.command("list")
def list_memories(
    ctx: typer.Context,
    kind: Annotated[MemoryKind | None, typer.Option(help="Only this kind.")] = None,
    limit: Limit = 50,
    json: Json = False,
) -> None:
    """List memories, newest first."""

    async def work(client: AttractorClient, output: Output) -> None:
        found = await at_most(limit, client.memories.all(kind=kind))
        if output.as_json:
            output.json(found)
            return
        rows = [(one.id, one.kind.value, local_time(one.created_at), _one_line(one.content)) for one in found]
        output.table(("id", "kind", "at", "content"), rows)

    run(ctx, json, work)


@app.command()
def add(
    ctx: typer.Context,
    content: Annotated[str, typer.Argument(help="What to remember.")],
    json: Json = False,
) -> None:
    """Store a note.

    \b
    Example:
      attractor memories add "The billing migration is frozen until March."
    """

    async def work(client: AttractorClient, output: Output) -> None:
        memory = await client.memories.add(content)
        output.json(memory) if output.as_json else output.text(f"{memory.id} stored")

    run(ctx, json, work)


@app.command()
def recall(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="What it was about.")],
    k: Annotated[int, typer.Option("-k", min=1, max=50, help="Memories to find.")] = 5,
    json: Json = False,
) -> None:
    """Find the memories that are nearest in meaning."""

    async def work(client: AttractorClient, output: Output) -> None:
        found = await client.memories.recall(query, k=k)
        if output.as_json:
            output.json(found)
            return
        rows = [(one.id, f"{one.score:.3f}", local_time(one.created_at), _one_line(one.content)) for one in found]
        output.table(("id", "score", "at", "content"), rows)

    run(ctx, json, work)


@app.command()
def delete(
    ctx: typer.Context,
    memory_id: Annotated[UUID, typer.Argument(metavar="ID", help="The memory's id.")],
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Delete a memory for good."""

    async def work(client: AttractorClient, output: Output) -> None:
        confirm("Delete this memory?", output, yes)
        await client.memories.delete(memory_id)
        output.json({"deleted": memory_id}) if output.as_json else output.text(f"{memory_id} deleted")

    run(ctx, json, work)


def _one_line(content: str) -> str:
    line = " ".join(content.split())
    return line if len(line) <= ONE_LINE else f"{line[: ONE_LINE - 1]}…"
