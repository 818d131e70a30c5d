"""attractor search-settings"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import connected
from attractor_client.output import Output
from contracts.retrieval import SearchMode, SearchSettings, SearchSettingsUpdate

app = typer.Typer(no_args_is_help=True, help="The workspace's defaults for searches.")


class Setting(StrEnum):
    mode = "mode"
    k1 = "k1"
    b = "b"
    rrf_k = "rrf_k"
    legs = "legs"
    weights = "weights"
    diversity = "diversity"


@app.command()
@connected()
async def show(client: AttractorClient, output: Output) -> None:
    """Show the settings."""
    _show(output, await client.search_settings.get())


@app.command("set")
@connected()
async def change(
    client: AttractorClient,
    output: Output,
    mode: Annotated[SearchMode | None, typer.Option(help="How to rank.")] = None,
    k1: Annotated[float | None, typer.Option(min=0, max=10, help="BM25: how soon a repeated word saturates.")] = None,
    b: Annotated[float | None, typer.Option(min=0, max=1, help="BM25: how much long chunks are discounted.")] = None,
    rrf_k: Annotated[int | None, typer.Option(min=1, max=1000, help="The constant of rrf.")] = None,
    leg: Annotated[list[str] | None, typer.Option(metavar="LEG=N", help="lexical, dense, graph.")] = None,
    weight: Annotated[list[str] | None, typer.Option(metavar="FEATURE=N", help="cosine, bm25_share, …")] = None,
    diversity: Annotated[
        float | None, typer.Option(min=0, max=1, help="Weight of novelty among the hits; 0 for none.")
    ] = None,
) -> None:
    """Change settings; the others stay as they are.

    \b
    Example:
      attractor search-settings set --mode convex --leg graph=0.2
    """
    if all(value is None for value in (mode, k1, b, rrf_k, leg, weight, diversity)):
        raise typer.BadParameter("give at least one setting to change")
    legs, weights = numbers(leg or []), numbers(weight or [])
    now = await client.search_settings.get()
    for names, known in ((legs, now.legs), (weights, now.weights)):
        if unknown := sorted(names.keys() - known.keys()):
            raise typer.BadParameter(f"there is no {', '.join(unknown)}; there are {', '.join(known)}")
    update = SearchSettingsUpdate(
        mode=mode,
        k1=k1,
        b=b,
        rrf_k=rrf_k,
        legs=legs or None,
        weights=weights or None,
        diversity=diversity,
    )
    _show(output, await client.search_settings.update(now, update))


@app.command()
@connected()
async def reset(
    client: AttractorClient,
    output: Output,
    settings: Annotated[list[Setting] | None, typer.Argument(metavar="SETTING...", help="Default: all.")] = None,
) -> None:
    """Reset settings to their defaults.

    \b
    Example:
      attractor search-settings reset weights
    """
    names = [one.value for one in settings or Setting]
    update = SearchSettingsUpdate.model_validate({"reset": names})
    _show(output, await client.search_settings.update(await client.search_settings.get(), update))


def _show(output: Output, settings: SearchSettings) -> None:
    if output.as_json:
        output.json(settings)
        return
    output.fields(
        [
            ("mode", settings.mode.value),
            ("k1", settings.k1),
            ("b", settings.b),
            ("rrf_k", settings.rrf_k),
            ("legs", _pairs(settings.legs)),
            ("weights", _pairs(settings.weights)),
            ("diversity", settings.diversity),
            ("of the space", settings.embedding_space),
        ]
    )


def _pairs(values: dict[str, float]) -> str:
    return ", ".join(f"{name}={value:g}" for name, value in values.items())


def numbers(pairs: list[str]) -> dict[str, float]:
    """Parses `["cosine=1.2"]` into {"cosine": 1.2}."""
    read = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        try:
            read[name.strip()] = float(value)
        except ValueError:
            raise typer.BadParameter(f"{pair!r} must have the form NAME=NUMBER") from None
    return read
