"""attractor graph export, import, imports, delete-import"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.commands.written_files import OutputFile, format_of, write_parts
from attractor_client.errors import InvalidRequest
from attractor_client.invocation import FAILED, Limit, Yes, confirm, connected, show_list
from attractor_client.output import Output
from attractor_client.rendering import local_time
from contracts.graph_picture import ExportFormat
from contracts.graph_triples import TripleFormat

EXPORTS = {
    ".graphml": ExportFormat.graphml,
    ".xml": ExportFormat.graphml,
    ".ttl": ExportFormat.turtle,
    ".jsonl": ExportFormat.jsonl,
}
IMPORTS = {
    ".csv": TripleFormat.csv,
    ".tsv": TripleFormat.csv,
    ".jsonl": TripleFormat.jsonl,
    ".ndjson": TripleFormat.jsonl,
    ".ttl": TripleFormat.turtle,
}


@connected()
async def export_graph(
    client: AttractorClient,
    output: Output,
    file: OutputFile,
    format: Annotated[ExportFormat | None, typer.Option(help="Default: from the file's extension.")] = None,
    min_mentions: Annotated[int, typer.Option(min=1, help="Only entities with at least this many mentions.")] = 1,
) -> None:
    """Write the whole graph to a file: GraphML (for drawing programs), Turtle or JSON Lines.

    \b
    Examples:
      attractor graph export knowledge.graphml
      attractor graph export --format jsonl - | jq -r 'select(.kind == "entity").name'
    """
    kind = format_of(file, format, EXPORTS)
    async with client.graph.export(kind, min_mentions=min_mentions) as parts:
        await write_parts(output, file, parts)


@connected()
async def import_triples(
    client: AttractorClient,
    output: Output,
    file: Annotated[Path, typer.Argument(help="A CSV, JSON Lines or Turtle file; - for stdin.", allow_dash=True)],
    name: Annotated[str | None, typer.Option(help="Name of the import; default: the file's name.")] = None,
    format: Annotated[TripleFormat | None, typer.Option(help="Default: from the file's extension.")] = None,
) -> None:
    """Import triples; replaces those imported earlier under the same name.

    CSV begins with a line that names the columns: subject,predicate,object and, where known, subject_type, object_type,
    confidence (0 to 1). JSON Lines have the same members. ALIAS_OF says that two names are one, TYPE what the subject
    is. If any line is wrong, nothing is stored.

    \b
    Examples:
      attractor graph import services.csv
      attractor graph import --name cmdb --format jsonl - < export.jsonl
    """
    kind = format or IMPORTS.get(file.suffix.lower())
    if kind is None:
        raise typer.BadParameter(f"use --format, or name the file {', '.join(IMPORTS)}")
    called = name or file.name
    if called == "-":
        raise typer.BadParameter("--name is required when reading from stdin")
    try:
        content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        output.note(f"Error: {file}: {error.strerror}", "red")
        raise typer.Exit(FAILED) from error
    try:
        kept = await client.graph.bring_triples(called, content, kind)
    except InvalidRequest as error:
        for one in error.extra.get("errors", []):
            output.note(f"{file}:{one.get('line')}: {one.get('message')}")
        raise
    if output.as_json:
        output.json(kept)
        return
    output.text(
        f"{kept.name}: {kept.triples} triples, {kept.entities} entities, {kept.relations} relations, "
        f"{kept.aliases} aliases"
    )
    for note in kept.notes:
        output.note(note)


@connected()
async def imports(client: AttractorClient, output: Output, limit: Limit = 50) -> None:
    """List the imported sets of triples, by name."""
    await show_list(
        output,
        client.graph.imports(),
        limit,
        ("id", "name", "format", "triples", "entities", "relations", "aliases", "updated"),
        lambda one: (
            one.id,
            one.name,
            one.format.value,
            one.triples,
            one.entities,
            one.relations,
            one.aliases,
            local_time(one.updated_at),
        ),
    )


@connected()
async def delete_import(
    client: AttractorClient,
    output: Output,
    import_id: Annotated[UUID, typer.Argument(metavar="ID", help="The import's id.")],
    yes: Yes = False,
) -> None:
    """Delete a set of triples, and everything that nothing else states."""
    confirm("Delete these triples?", output, yes)
    await client.graph.delete_import(import_id)
    output.result({"deleted": import_id}, f"{import_id} deleted")
