"""attractor graph correct, corrections"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import Limit, connected, show_list
from attractor_client.output import Output
from attractor_client.rendering import local_time
from contracts.graph_corrections import Correction, CorrectionRequest

app = typer.Typer(no_args_is_help=True, help="Correct the graph: facts, names, types.")
Entity = Annotated[str, typer.Argument(metavar="ENTITY", help="A name, in any spelling, or an id.")]
Other = Annotated[str, typer.Argument(metavar="OTHER", help="A name, in any spelling, or an id.")]
Relation = Annotated[str, typer.Argument(metavar="RELATION", help="Such as DEPENDS_ON or OWNS.")]
Why = Annotated[str, typer.Option("--reason", help="Why; it is shown with the correction.")]


@app.command()
@connected()
async def confirm(
    client: AttractorClient, output: Output, entity: Entity, relation: Relation, other: Other, reason: Why
) -> None:
    """Confirm that a fact is right.

    \b
    Example:
      attractor graph correct confirm AuthService USES UserDB --reason "checked in production"
    """
    await _fact(client, output, "confirm", (entity, relation, other), reason)


@app.command()
@connected()
async def reject(
    client: AttractorClient, output: Output, entity: Entity, relation: Relation, other: Other, reason: Why
) -> None:
    """Reject a fact as wrong. DEPENDS_ON covers all kinds of dependency, USES only that one.

    \b
    Example:
      attractor graph correct reject BillingRouter DEPENDS_ON UserDB --reason "it asks AuthService"
    """
    await _fact(client, output, "reject", (entity, relation, other), reason)


@app.command()
@connected()
async def add(
    client: AttractorClient,
    output: Output,
    entity: Entity,
    relation: Relation,
    other: Other,
    reason: Why,
    status: Annotated[str, typer.Option(help="current, past or planned.")] = "current",
    dated: Annotated[str | None, typer.Option(help="Since or until when: 2024, 2024-06 or 2024-06-28.")] = None,
) -> None:
    """Add a fact that no document states.

    \b
    Example:
      attractor graph correct add Identity OWNS UserDB --reason "agreed on 3 March"
    """
    await _fact(client, output, "add", (entity, relation, other), reason, status=status, dated=dated)


@app.command()
@connected()
async def merge(client: AttractorClient, output: Output, entity: Entity, other: Other, reason: Why) -> None:
    """Make ENTITY another name of OTHER.

    \b
    Example:
      attractor graph correct merge "Sign-in" AuthService --reason "its old name"
    """
    await _correct(client, output, kind="merge", entity=entity, other=other, reason=reason)


@app.command()
@connected()
async def split(client: AttractorClient, output: Output, entity: Entity, other: Other, reason: Why) -> None:
    """Record that two names are different entities."""
    await _correct(client, output, kind="split", entity=entity, other=other, reason=reason)


@app.command("type")
@connected()
async def change_type(
    client: AttractorClient,
    output: Output,
    entity: Entity,
    entity_type: Annotated[str, typer.Argument(metavar="TYPE", help="Such as SERVICE, TEAM or PERSON.")],
    reason: Why,
) -> None:
    """Set the type of an entity.

    \b
    Example:
      attractor graph correct type Mercury SERVICE --reason "not the planet"
    """
    await _correct(client, output, kind="type", entity=entity, entity_type=entity_type, reason=reason)


@app.command()
@connected()
async def undo(
    client: AttractorClient,
    output: Output,
    correction_id: Annotated[UUID, typer.Argument(metavar="ID", help="The correction's id.")],
) -> None:
    """Undo a correction."""
    await client.graph.undo_correction(correction_id)
    output.result({"undone": correction_id}, f"{correction_id} undone")


@connected()
async def corrections(client: AttractorClient, output: Output, limit: Limit = 50) -> None:
    """List the corrections in force, newest first."""
    await show_list(
        output,
        client.graph.corrections(),
        limit,
        ("id", "correction", "reason", "by", "when"),
        lambda one: (one.id, _sentence(one), one.reason, one.created_by, local_time(one.created_at)),
    )


async def _fact(
    client: AttractorClient, output: Output, kind: str, fact: tuple[str, str, str], reason: str, **more: str | None
) -> None:
    entity, relation, other = fact
    about = {"entity": entity, "relation_type": relation, "other": other}
    await _correct(client, output, kind=kind, reason=reason, **about, **more)


async def _correct(client: AttractorClient, output: Output, **correction: str | None) -> None:
    try:
        request = CorrectionRequest.model_validate(correction)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    made = await client.graph.correct(request)
    output.result(made, f"{made.id}  {_sentence(made)}")


def _sentence(one: Correction) -> str:
    if one.entity_type is not None:
        return f"{one.entity} is a {one.entity_type}"
    if one.relation_type is None:
        return f"{one.kind} {one.entity}, {one.other}"
    status = "" if one.status == "current" else f" ({one.status}{f', {one.dated}' if one.dated else ''})"
    return f"{one.kind} {one.entity} {one.relation_type} {one.other}{status}"
