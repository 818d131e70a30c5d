"""attractor spaces"""

from __future__ import annotations

from typing import Annotated

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import Yes, confirm, connected
from attractor_client.output import Output
from contracts.embedding_spaces import EmbeddingSpaceState

app = typer.Typer(no_args_is_help=True, help="Build, switch and delete embedding spaces.")
SpaceId = Annotated[str, typer.Argument(metavar="ID", help="The space's id.")]


@app.command("list")
@connected()
async def list_spaces(client: AttractorClient, output: Output) -> None:
    """List built spaces and configured models."""
    found = [space async for space in client.spaces.all()]
    if output.as_json:
        output.json(found)
    else:
        output.table(("id", "model", "dims", "status", "vectors", "time left", "error"), map(_row, found))


@app.command()
@connected()
async def build(
    client: AttractorClient,
    output: Output,
    model: Annotated[str, typer.Argument(help="A configured model; see `attractor spaces list`.")],
    dims: Annotated[
        int | None, typer.Option(min=1, help="Required if the model is configured with several dimensions.")
    ] = None,
    activate: Annotated[bool, typer.Option(help="Switch to the space as soon as it is complete.")] = True,
) -> None:
    """Build another model's vectors in the background, then switch to it.

    \b
    Example:
      attractor spaces build bge-small-en-v1.5
    """
    _show(output, await client.spaces.create(model, dims=dims, activate=activate))


@app.command("activate")
@connected()
async def activate_space(client: AttractorClient, output: Output, space_id: SpaceId) -> None:
    """Switch searches to a space as soon as it is complete."""
    _show(output, await client.spaces.activate(space_id))


@app.command()
@connected()
async def drop(client: AttractorClient, output: Output, space_id: SpaceId, yes: Yes = False) -> None:
    """Delete the vectors of a space that is not active."""
    confirm("Delete the vectors of this space?", output, yes)
    await client.spaces.delete(space_id)
    output.result({"dropped": space_id}, f"{space_id} deleted")


def _show(output: Output, space: EmbeddingSpaceState) -> None:
    if output.as_json:
        output.json(space)
    else:
        output.table(("id", "model", "dims", "status", "vectors", "time left", "error"), [_row(space)])


def _row(space: EmbeddingSpaceState) -> tuple[object, ...]:
    left = f"{space.seconds_left:.0f} s" if space.seconds_left is not None else None
    status = space.status.value if space.configured else f"{space.status.value}, not configured"
    return (space.id, space.model, space.dims, status, f"{space.vectors}/{space.chunks}", left, space.error_message)
