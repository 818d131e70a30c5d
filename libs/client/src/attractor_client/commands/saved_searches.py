"""attractor saved-searches"""

from __future__ import annotations

import json as jsonlib
from collections.abc import AsyncIterator
from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.commands import search_options
from attractor_client.commands.options import taking
from attractor_client.commands.search_view import show_found
from attractor_client.errors import NotFound
from attractor_client.invocation import Json, Limit, Yes, at_most, confirm, run
from attractor_client.output import Output
from attractor_client.rendering import local_time
from attractor_client.search import Filters, SearchOptions, search_request
from contracts.retrieval import SavedSearch, SearchRequest

app = typer.Typer(no_args_is_help=True, help="Searches that the team keeps.")
Which = Annotated[str, typer.Argument(metavar="NAME", help="Its name, or its id.")]
UNSAID = {"query", "explain", "highlight"}


@app.command("list")
def list_saved(ctx: typer.Context, limit: Limit = 50, json: Json = False) -> None:
    """List the saved searches of the workspace."""

    async def work(client: AttractorClient, output: Output) -> None:
        found = await at_most(limit, client.saved_searches.all())
        if output.as_json:
            output.json(found)
            return
        rows = [
            (one.id, one.name, one.request.query, _options(one.request), local_time(one.updated_at)) for one in found
        ]
        output.table(("id", "name", "query", "options", "changed"), rows)

    run(ctx, json, work)


@app.command()
@taking(filters=search_options.filters, ranking=search_options.ranking)
def save(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Its name; one that is there is replaced.")],
    words: Annotated[str, typer.Argument(metavar="QUERY", help="Words or a question.")],
    filters: Filters,
    ranking: SearchOptions,
    json: Json = False,
) -> None:
    """Save a search under a name, with the options of `attractor search`.

    \b
    Example:
      attractor saved-searches save "new incidents" outage --tag incident
    """

    async def work(client: AttractorClient, output: Output) -> None:
        request = search_request(words, {**filters, **ranking})
        same = [one async for one in client.saved_searches.all() if one.name == name.strip()]
        if same:
            saved = await client.saved_searches.update(same[0], request=request)
        else:
            saved = await client.saved_searches.create(name, request)
        output.json(saved) if output.as_json else output.text(f"{saved.id} {saved.name}")

    run(ctx, json, work)


@app.command("run")
def run_saved(
    ctx: typer.Context,
    which: Which,
    explain: Annotated[bool, typer.Option("--explain", help="Show why, as `attractor search` does.")] = False,
    json: Json = False,
) -> None:
    """Run a saved search.

    \b
    Example:
      attractor saved-searches run "new incidents"
    """

    async def work(client: AttractorClient, output: Output) -> None:
        saved = await _named(client, which)
        if explain:
            found = await client.search.ask(saved.request.model_copy(update={"explain": True}))
        else:
            found = await client.saved_searches.run(saved.id)
        output.json(found) if output.as_json else show_found(output, found, explain)

    run(ctx, json, work)


@app.command()
def delete(ctx: typer.Context, which: Which, yes: Yes = False, json: Json = False) -> None:
    """Delete a saved search."""

    async def work(client: AttractorClient, output: Output) -> None:
        saved = await _named(client, which)
        confirm(f"Delete the saved search {saved.name!r}?", output, yes)
        await client.saved_searches.delete(saved.id)
        output.json({"deleted": saved.id}) if output.as_json else output.text(f"{saved.name} is deleted")

    run(ctx, json, work)


async def _named(client: AttractorClient, which: str) -> SavedSearch:
    """The first with this name, or the one with this id."""
    found: AsyncIterator[SavedSearch] = client.saved_searches.all()
    async for one in found:
        if which in (one.name, str(one.id)):
            return one
    try:
        return await client.saved_searches.get(UUID(which))
    except ValueError:
        raise NotFound(f"There is no saved search named {which!r}") from None


def _options(request: SearchRequest) -> str:
    """What differs from a search without options."""
    said = request.model_dump(mode="json", exclude_defaults=True, exclude=UNSAID)
    return "; ".join(f"{name} {_value(value)}" for name, value in said.items())


def _value(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return value if isinstance(value, str) else jsonlib.dumps(value)
