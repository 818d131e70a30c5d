"""Shows results of the graph's tools to people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import typer
from rich.padding import Padding
from rich.text import Text
from rich.tree import Tree

from attractor_client.invocation import NOT_FOUND
from attractor_client.output import Output, plain
from attractor_client.rendering import one_line
from contracts.graph_tools import (
    Calculation,
    Dependency,
    DependencyAnalysis,
    EntityFacts,
    EntityMatch,
    EntityPath,
    Fact,
    PathsFound,
    ToolResult,
)
from contracts.locations import location

R = TypeVar("R")
CO_OCCURS = "CO_OCCURS"
FOREMOST = frozenset({"DEPENDS_ON", "USES", "CALLS", "PART_OF", "OWNS", "MAINTAINS"})
SHOWN_CHARACTERS = 300
INDENT = (0, 0, 0, 3)


def result_or_exit(output: Output, found: ToolResult[R]) -> R:
    """Returns the result; if there is none, says why, lists what to ask instead, and exits the command.

    Notes on stderr if the graph lacks documents.
    """
    if found.notice:
        output.note(f"note: {found.notice}", "yellow")
    if found.result is not None:
        return found.result
    if output.as_json:
        output.json(found)
    output.note(f"Error: {found.error}", "red")
    for one in found.suggestions:
        output.note(f"  {one}")
    raise typer.Exit(NOT_FOUND)


def show_alternatives(
    output: Output, entity: EntityMatch, requested_name: str, alternatives: Sequence[EntityMatch]
) -> None:
    """Notes on stderr which entity a name was resolved to, unless it is the entity's own name."""
    if entity.how in ("prefix", "fuzzy"):
        output.note(f"using {entity.name} for {requested_name}", "yellow")
    if alternatives:
        output.note(f"also similar: {', '.join(one.name for one in alternatives)}")


def show_neighbourhood(output: Output, facts: EntityFacts) -> None:
    """Prints the entity as a tree: its relations by type, then entities that are only mentioned together with it."""
    tree = Tree(_heading(facts.entity))
    stated: dict[str, list[Fact]] = {}
    for fact in facts.relations:
        if fact.relation_type != CO_OCCURS:
            stated.setdefault(fact.relation_type, []).append(fact)
    for kind, some in sorted(stated.items(), key=lambda one: (one[0] not in FOREMOST, -len(one[1]), one[0])):
        branch = tree.add(Text(plain(kind), style="cyan"))
        for fact in some:
            branch.add(_tie(fact, facts.entity.id))
    tied = {end for some in stated.values() for one in some for end in (one.source, one.target)}
    near = [one for one in facts.neighbours if one.id not in tied]
    if near:
        branch = tree.add(Text("mentioned together with", style="cyan"))
        for one in near:
            branch.add(Text.assemble(plain(one.name), (f"  {plain(one.entity_type)}, weight {one.weight:g}", "dim")))
    output.show(tree)


def show_facts(output: Output, facts: EntityFacts) -> None:
    """Prints relations with the sentences that state them, then chunks."""
    entity = facts.entity
    output.fields(
        [
            ("id", entity.id),
            ("name", entity.name),
            ("type", entity.entity_type),
            ("also", ", ".join(entity.aliases)),
            ("mentions", f"{entity.mentions} in {entity.documents} documents"),
            ("near", ", ".join(one.name for one in facts.neighbours)),
        ]
    )
    for fact in facts.relations:
        if fact.relation_type == CO_OCCURS:
            continue
        output.text()
        more = f"  weight {fact.weight:g}" if fact.status == "current" else f"  {_time(fact)}"
        output.show(_relation(fact.source_name, fact.relation_type, fact.target_name, more))
        for one in fact.statements:
            quote = f"“{one_line(one.text, SHOWN_CHARACTERS)}”, " if one.text else ""
            output.show(Padding(Text(plain(f"{quote}{one.document_name}"), style="dim"), INDENT, expand=False))
    for passage in facts.chunks:
        output.text()
        where = location(passage.section, passage.page, None, None)
        output.text(f"{passage.document_name}, {where}" if where else passage.document_name, "bold")
        output.show(Padding(Text(plain(one_line(passage.text, SHOWN_CHARACTERS))), INDENT, expand=False))


def show_dependencies(output: Output, found: DependencyAnalysis) -> None:
    critical = found.criticality
    output.show(
        Text.assemble((plain(found.entity.name), "bold"), plain(f": {critical.level} criticality; {critical.reason}"))
    )
    for title, some in (("depends on", found.depends_on), ("is depended on by", found.depended_by)):
        if some:
            output.text()
            output.show(_branches(title, found.entity.name, some))
    show_not_current(output, found.not_current)
    for cycle in found.cycles:
        output.text()
        output.text(f"cycle: {' → '.join([*cycle, cycle[0]])}", "yellow")
    if found.truncated:
        output.note("the result is cut by the limits; see --depth and --limit")


def show_paths(output: Output, found: PathsFound) -> None:
    for path in found.paths:
        output.show(_way(path))
    if found.note:
        output.note(found.note, "yellow")


def show_calculation(output: Output, found: Calculation) -> None:
    if found.value is not None:
        output.text(f"{'at least ' if found.at_least else ''}{found.value:g}", "bold")
    if found.rows:
        output.table(("what", "value"), [(one.label, f"{one.value:g}") for one in found.rows], whole=())
    output.note(found.understood)
    show_not_current(output, found.not_current)


def show_not_current(output: Output, facts: Sequence[Fact]) -> None:
    """Prints the facts that are past, planned or negated, each with the sentence that states it."""
    if facts:
        output.text()
        output.text("not of the present:", "dim")
    for fact in facts:
        quote = next((one.text for one in fact.statements if one.text), "")
        more = f"  {_time(fact)}" + (f"  “{one_line(quote, SHOWN_CHARACTERS)}”" if quote else "")
        output.show(_relation(fact.source_name, fact.relation_type, fact.target_name, plain(more)))


def _heading(entity: EntityMatch) -> Text:
    count = f"{entity.mentions} mentions in {entity.documents} documents"
    also = f", also {', '.join(entity.aliases)}" if entity.aliases else ""
    return Text.assemble((plain(entity.name), "bold"), (plain(f"  {entity.entity_type}, {count}{also}"), "dim"))


def _tie(fact: Fact, centre: str) -> Text:
    outgoing = fact.source == centre
    arrow, other = ("→ ", fact.target_name) if outgoing else ("← ", fact.source_name)
    quote = next((one.text for one in fact.statements if one.text), "")
    time = "" if fact.status == "current" else f"  {_time(fact)}"
    return Text.assemble(
        arrow,
        plain(other),
        (time, "yellow"),
        (f"  “{plain(one_line(quote, SHOWN_CHARACTERS))}”" if quote else "", "dim"),
    )


def _time(fact: Fact) -> str:
    """Formats the status and date of a fact: `past, until 2024-06`."""
    words = {"past": "until", "planned": "from"}
    return f"{fact.status}, {words[fact.status]} {fact.dated}" if fact.dated and fact.status in words else fact.status


def _relation(source: str, kind: str, target: str, more: str = "") -> Text:
    return Text.assemble(plain(source), (f" {plain(kind)} ", "cyan"), plain(target), (more, "dim"))


def _branches(title: str, name: str, found: Sequence[Dependency]) -> Tree:
    """Returns dependencies as a tree, nearest first; each is below the one that leads to it."""
    tree = Tree(Text.assemble((plain(name), "bold"), (f" {title}", "dim")))
    nodes: dict[str, Tree] = {}
    for one in found:
        above = nodes.get(one.via or "", tree)
        nodes.setdefault(one.name, above.add(Text(plain(one.name))))
    return tree


def _way(path: EntityPath) -> Text:
    parts: list[Text | tuple[str, str]] = [Text(plain(path.names[0]), style="bold")]
    for origin, name, relation in zip(path.ids, path.names[1:], path.relations, strict=False):
        forward = relation.source == origin
        parts.append(
            (f" -{plain(relation.relation_type)}-> " if forward else f" <-{plain(relation.relation_type)}- ", "cyan")
        )
        parts.append(Text(plain(name), style="bold"))
    return Text.assemble(*parts)
