"""attractor graph"""

from __future__ import annotations

from typing import Annotated

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import Json, Limit, at_most, run
from attractor_client.output import Output
from contracts.knowledge_graph import Entity

app = typer.Typer(no_args_is_help=True, help="Look into the knowledge graph.")
Kind = Annotated[str | None, typer.Option("--type", help="Only of this type, for instance SERVICE.")]


@app.command()
def entities(
    ctx: typer.Context,
    query: Annotated[str | None, typer.Argument(help="What the name begins with.")] = None,
    entity_type: Kind = None,
    limit: Limit = 50,
    json: Json = False,
) -> None:
    """List entities, the most mentioned first.

    \b
    Examples:
      attractor graph entities
      attractor graph entities auth --type SERVICE
    """

    async def work(client: AttractorClient, output: Output) -> None:
        found = await at_most(limit, client.graph.entities(query=query, entity_type=entity_type))
        output.json(found) if output.as_json else _table(output, found)

    run(ctx, json, work)


@app.command()
def show(
    ctx: typer.Context,
    entity_id: Annotated[str, typer.Argument(metavar="ID", help="The entity's id.")],
    json: Json = False,
) -> None:
    """Show an entity with its relations."""

    async def work(client: AttractorClient, output: Output) -> None:
        entity = await client.graph.entity(entity_id)
        if output.as_json:
            output.json(entity)
            return
        output.fields(
            [
                ("id", entity.id),
                ("name", entity.name),
                ("type", entity.entity_type),
                ("also", ", ".join(entity.aliases)),
                ("mentions", entity.mentions),
                ("documents", entity.documents),
                ("passages", len(entity.chunk_ids)),
            ]
        )
        output.text()
        rows = [(one.source_name, one.relation_type, one.target_name, f"{one.weight:g}") for one in entity.relations]
        output.table(("source", "relation", "target", "weight"), rows)

    run(ctx, json, work)


@app.command()
def expand(
    ctx: typer.Context,
    query: Annotated[str | None, typer.Argument(help="A text that names entities.")] = None,
    entity: Annotated[
        list[str] | None, typer.Option("--entity", "-e", help="Start from the entity of this name.")
    ] = None,
    hops: Annotated[int, typer.Option(min=0, max=3, help="Steps to go.")] = 2,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=200, help="Passages to find.")] = 20,
    json: Json = False,
) -> None:
    """Find the passages that are near to entities.

    \b
    Examples:
      attractor graph expand "What depends on UserDB?"
      attractor graph expand --entity AuthService --hops 1
    """

    async def work(client: AttractorClient, output: Output) -> None:
        found = await client.graph.expand(query, entities=entity or [], max_hops=hops, limit=limit)
        if output.as_json:
            output.json(found)
            return
        _table(output, found.entities)
        if found.chunks:
            output.text()
            rows = [(one.hop, f"{one.score:.3f}", " > ".join(one.path), one.document_id) for one in found.chunks]
            output.table(("hops", "score", "path", "document"), rows, whole=("document",))

    run(ctx, json, work)


def _table(output: Output, found: list[Entity]) -> None:
    rows = [(one.id, one.name, one.entity_type, one.mentions, one.documents) for one in found]
    output.table(("id", "name", "type", "mentions", "documents"), rows)
