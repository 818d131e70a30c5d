"""attractor spaces"""

from __future__ import annotations

from typing import Annotated

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import Yes, confirm, connected
from attractor_client.output import Output
from contracts.embedding_spaces import EmbeddingSpaceState

app = typer.Typer(no_args_is_help=True, help="Embedding spaces: build another model's, switch, drop.")
SpaceId = Annotated[str, typer.Argument(metavar="ID", help="The space's id.")]


@app.command("list")
@connected()
async def list_spaces(client: AttractorClient, output: Output) -> None:
    """List the spaces that are built, and the models that are configured."""
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
    model: Annotated[str, typer.Argument(help="A configured model; `attractor spaces list` shows them.")],
    dims: Annotated[int | None, typer.Option(min=1, help="Where one model is configured with several.")] = None,
    activate: Annotated[bool, typer.Option(help="Switch to it as soon as it is complete.")] = True,
) -> None:
    """Build the vectors of another model in the background, and switch to it.

    \b
    Example:
      attractor spaces build bge-small-en-v1.5
    """
    _show(output, await client.spaces.create(model, dims=dims, activate=activate))


@app.command("activate")
@connected()
async def activate_space(client: AttractorClient, output: Output, space_id: SpaceId) -> None:
    """Switch searches to a space, at once when it is complete."""
    _show(output, await client.spaces.activate(space_id))


@app.command()
@connected()
async def drop(client: AttractorClient, output: Output, space_id: SpaceId, yes: Yes = False) -> None:
    """Drop the vectors of a space that is not active."""
    confirm("Drop the vectors of this space?", output, yes)
    await client.spaces.delete(space_id)
    output.json({"dropped": space_id}) if output.as_json else output.text(f"{space_id} is dropped")


def _show(output: Output, space: EmbeddingSpaceState) -> None:
    if output.as_json:
        output.json(space)
    else:
        output.table(("id", "model", "dims", "status", "vectors", "time left", "error"), [_row(space)])


def _row(space: EmbeddingSpaceState) -> tuple[object, ...]:
    left = f"{space.seconds_left:.0f} s" if space.seconds_left is not None else None
    status = space.status.value if space.configured else f"{space.status.value}, not configured"
    return (space.id, space.model, space.dims, status, f"{space.vectors}/{space.chunks}", left, space.error_message)
