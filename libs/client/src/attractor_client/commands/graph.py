"""attractor graph"""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from attractor_client.client import AttractorClient
from attractor_client.commands import corrections, graph_files, refinement
from attractor_client.commands.graph_view import (
    result_or_exit,
    show_alternatives,
    show_calculation,
    show_dependencies,
    show_facts,
    show_neighbourhood,
    show_paths,
)
from attractor_client.invocation import Limit, at_most, connected
from attractor_client.output import Output, plain
from contracts.graph_tools import AnalyzeDependencies, LookupFacts, RunCalculation, ShortestPath
from contracts.knowledge_graph import Entity
from contracts.locations import location

app = typer.Typer(no_args_is_help=True, help="Query the knowledge graph, and import into it.")
app.command("export")(graph_files.export_graph)
app.command("import")(graph_files.import_triples)
app.command("imports")(graph_files.imports)
app.command("delete-import")(graph_files.delete_import)
app.command("estimate")(refinement.estimate)
app.add_typer(refinement.app, name="refinement")
app.add_typer(corrections.app, name="correct")
app.command("corrections")(corrections.corrections)
Name = Annotated[str, typer.Argument(metavar="ENTITY", help="An entity's name, in any spelling, or its id.")]
Types = Annotated[list[str] | None, typer.Option("--relation", "-r", help="Only relations of this type.")]
Mentions = Annotated[
    int | None, typer.Option(min=1, help="Only entities with at least this many mentions; 1 lists all.")
]
Kind = Annotated[str | None, typer.Option("--type", help="Only entities of this type, such as SERVICE.")]


@app.command()
@connected()
async def entities(
    client: AttractorClient,
    output: Output,
    query: Annotated[str | None, typer.Argument(help="Beginning of the name.")] = None,
    entity_type: Kind = None,
    min_mentions: Mentions = None,
    limit: Limit = 50,
) -> None:
    """List entities, the most mentioned first; with a name, all that begin with it, however rarely mentioned.

    \b
    Examples:
      attractor graph entities
      attractor graph entities auth --type SERVICE
      attractor graph entities --min-mentions 1     (all; default: at least 2, or as the server is configured)
    """
    wanted = client.graph.entities(query=query, entity_type=entity_type, min_mentions=min_mentions)
    found = await at_most(limit, wanted)
    output.json(found) if output.as_json else _table(output, found)


@app.command()
@connected()
async def show(
    client: AttractorClient,
    output: Output,
    entity: Name,
    relations: Annotated[
        int, typer.Option("--relations", "-n", min=1, max=100, help="Maximum number of relations to show.")
    ] = 30,
) -> None:
    """Show an entity and its relations as a tree.

    \b
    Example:
      attractor graph show AuthService
    """
    found = await client.graph.tools.facts(LookupFacts(entity_name=entity, max_relations=relations, max_chunks=0))
    facts = result_or_exit(output, found)
    if output.as_json:
        output.json(facts)
        return
    show_neighbourhood(output, facts)
    show_alternatives(output, facts.entity, entity, facts.alternatives)


@app.command()
@connected()
async def passages(client: AttractorClient, output: Output, entity: Name, limit: Limit = 10) -> None:
    """Show the passages that mention an entity, with its name in bold; those that mention it most often first.

    \b
    Example:
      attractor graph passages AuthService
    """
    found = await client.graph.tools.facts(LookupFacts(entity_name=entity, max_relations=1, max_chunks=0))
    facts = result_or_exit(output, found)
    shown = await at_most(limit, client.graph.passages(facts.entity.id))
    if output.as_json:
        output.json(shown)
        return
    for one in shown:
        output.text(", ".join(filter(None, (one.document_name, location(one.section, one.page, None, None)))), "bold")
        text = Text(plain(one.text or "(cannot be read at present)"))
        for span in one.spans if one.text else ():
            text.stylize("bold", span.start, span.end)
        output.show(text)
        output.text()
    show_alternatives(output, facts.entity, entity, facts.alternatives)


@app.command()
@connected()
async def facts(
    client: AttractorClient,
    output: Output,
    entity: Name,
    relations: Annotated[
        int, typer.Option("--relations", "-n", min=1, max=100, help="Maximum number of relations to show.")
    ] = 20,
    passages: Annotated[int, typer.Option(min=0, max=20, help="Maximum number of chunks to show.")] = 3,
) -> None:
    """Show what the documents say about an entity, with the sentences that say so.

    \b
    Example:
      attractor graph facts AuthService --passages 5
    """
    request = LookupFacts(entity_name=entity, max_relations=relations, max_chunks=passages)
    found = result_or_exit(output, await client.graph.tools.facts(request))
    if output.as_json:
        output.json(found)
        return
    show_facts(output, found)
    show_alternatives(output, found.entity, entity, found.alternatives)


@app.command()
@connected()
async def dependencies(
    client: AttractorClient,
    output: Output,
    entity: Name,
    depth: Annotated[int, typer.Option(min=1, max=10, help="Maximum number of steps to follow.")] = 5,
    types: Types = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=1000, help="Maximum number of entities in each direction.")
    ] = 200,
) -> None:
    """Show what an entity depends on, what depends on it, and how critical it is.

    \b
    Examples:
      attractor graph dependencies UserDB
      attractor graph dependencies UserDB --depth 1 --relation DEPENDS_ON
    """
    request = AnalyzeDependencies(entity=entity, depth=depth, limit=limit)
    if types:
        request = AnalyzeDependencies(entity=entity, depth=depth, limit=limit, relation_types=types)
    found = result_or_exit(output, await client.graph.tools.dependencies(request))
    if output.as_json:
        output.json(found)
        return
    show_dependencies(output, found)
    show_alternatives(output, found.entity, entity, found.alternatives)


@app.command("path")
@connected()
async def shortest_path(
    client: AttractorClient,
    output: Output,
    source: Annotated[str, typer.Argument(metavar="FROM", help="An entity's name, in any spelling.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Another entity's name.")],
    length: Annotated[int, typer.Option(min=1, max=6, help="Maximum number of steps.")] = 4,
    types: Types = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=5, help="Maximum number of paths to show.")] = 3,
) -> None:
    """Show the shortest paths from one entity to another.

    \b
    Example:
      attractor graph path ProjectAlpha UserDB
    """
    request = ShortestPath(source=source, target=target, max_length=length, limit=limit, relation_types=types or None)
    found = result_or_exit(output, await client.graph.tools.paths(request))
    if output.as_json:
        output.json(found)
        return
    show_paths(output, found)
    show_alternatives(output, found.source, source, [])
    show_alternatives(output, found.target, target, found.alternatives)


@app.command()
@connected()
async def calculate(
    client: AttractorClient,
    output: Output,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A short question in English.")],
) -> None:
    """Count and rank over the graph. A question that cannot be calculated lists those that can.

    \b
    Examples:
      attractor graph calculate "How many services depend on AuthService?"
      attractor graph calculate "top 5 people by mentions"
      attractor graph calculate "entities by type"
    """
    found = result_or_exit(output, await client.graph.tools.calculate(RunCalculation(query=question)))
    output.json(found) if output.as_json else show_calculation(output, found)


@app.command()
@connected()
async def expand(
    client: AttractorClient,
    output: Output,
    query: Annotated[str | None, typer.Argument(help="Text that names entities.")] = None,
    entity: Annotated[
        list[str] | None, typer.Option("--entity", "-e", help="Start from this entity; repeatable.")
    ] = None,
    hops: Annotated[int, typer.Option(min=0, max=3, help="Number of steps to follow.")] = 2,
    min_mentions: Mentions = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=200, help="Number of chunks to return.")] = 20,
) -> None:
    """Find the chunks that are close to entities in the graph.

    \b
    Examples:
      attractor graph expand "What depends on UserDB?"
      attractor graph expand --entity AuthService --hops 1
    """
    found = await client.graph.expand(
        query, entities=entity or [], max_hops=hops, limit=limit, min_mentions=min_mentions
    )
    if output.as_json:
        output.json(found)
        return
    _table(output, found.entities)
    if found.chunks:
        output.text()
        rows = [(one.hop, f"{one.score:.3f}", " > ".join(one.path), one.document_id) for one in found.chunks]
        output.table(("hops", "score", "path", "document"), rows, whole=("document",))


def _table(output: Output, found: list[Entity]) -> None:
    rows = [(one.id, one.name, one.entity_type, one.mentions, one.documents) for one in found]
    output.table(("id", "name", "type", "mentions", "documents"), rows)
