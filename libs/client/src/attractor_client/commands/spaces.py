"""attractor spaces"""

from __future__ import annotations

from typing import Annotated

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import Json, Yes, confirm, run
from attractor_client.output import Output
from contracts.embedding_spaces import EmbeddingSpaceState

app = typer.Typer(no_args_is_help=True, help="Embedding spaces: build another model's, switch, drop.")
SpaceId = Annotated[str, typer.Argument(metavar="ID", help="The space's id.")]


@app.command("list")
def list_spaces(ctx: typer.Context, json: Json = False) -> None:
    """List the spaces that are built, and the models that are configured."""

    async def work(client: AttractorClient, output: Output) -> None:
        found = [space async for space in client.spaces.all()]
        if output.as_json:
            output.json(found)
        else:
            output.table(("id", "model", "dims", "status", "vectors", "time left", "error"), map(_row, found))

    run(ctx, json, work)


@app.command()
def build(
    ctx: typer.Context,
    model: Annotated[str, typer.Argument(help="A configured model; `attractor spaces list` shows them.")],
    dims: Annotated[int | None, typer.Option(min=1, help="Where one model is configured with several.")] = None,
    activate: Annotated[bool, typer.Option(help="Switch to it as soon as it is complete.")] = True,
    json: Json = False,
) -> None:
    """Build the vectors of another model in the background, and switch to it.

    \b
    Example:
      attractor spaces build bge-small-en-v1.5
    """

    async def work(client: AttractorClient, output: Output) -> None:
        _show(output, await client.spaces.create(model, dims=dims, activate=activate))

    run(ctx, json, work)


@app.command("activate")
def activate_space(ctx: typer.Context, space_id: SpaceId, json: Json = False) -> None:
    """Switch searches to a space, at once when it is complete."""

    async def work(client: AttractorClient, output: Output) -> None:
        _show(output, await client.spaces.activate(space_id))

    run(ctx, json, work)


@app.command()
def drop(ctx: typer.Context, space_id: SpaceId, yes: Yes = False, json: Json = False) -> None:
    """Drop the vectors of a space that is not active."""

    async def work(client: AttractorClient, output: Output) -> None:
        confirm("Drop the vectors of this space?", output, yes)
        await client.spaces.delete(space_id)
        output.json({"dropped": space_id}) if output.as_json else output.text(f"{space_id} is dropped")

    run(ctx, json, work)


def _show(output: Output, space: EmbeddingSpaceState) -> None:
    if output.as_json:
        output.json(space)
    else:
        output.table(("id", "model", "dims", "status", "vectors", "time left", "error"), [_row(space)])


def _row(space: EmbeddingSpaceState) -> tuple[object, ...]:
    left = f"{space.seconds_left:.0f} s" if space.seconds_left is not None else None
    status = space.status.value if space.configured else f"{space.status.value}, not configured"
    return (space.id, space.model, space.dims, status, f"{space.vectors}/{space.chunks}", left, space.error_message)
