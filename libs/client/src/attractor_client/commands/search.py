"""attractor search"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.commands import search_options
from attractor_client.commands.search_view import show_found, show_why
from attractor_client.invocation import connected
from attractor_client.output import Output
from attractor_client.resources.search import Filters, SearchOptions


@connected(filters=search_options.filters, ranking=search_options.ranking)
async def search(
    client: AttractorClient,
    output: Output,
    words: Annotated[str, typer.Argument(metavar="QUERY", help="Words or a question.")],
    filters: Filters,
    ranking: SearchOptions,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Explain the ranking: ranks, scores, terms, paths, times.",
            rich_help_panel=search_options.ALONG,
        ),
    ] = False,
    why: Annotated[
        UUID | None,
        typer.Option(
            metavar="ID",
            help="Say where this document is in the search, or what keeps it out.",
            rich_help_panel=search_options.ALONG,
        ),
    ] = None,
) -> None:
    """Find the chunks that match a query best.

    "Quoted words" match as a phrase and word* as a prefix; title:, name:,
    section:, tag:, type:, language: and source: before a word restrict the
    search to that field.

    \b
    Examples:
      attractor search "refresh tokens" -k 3
      attractor search --mode lexical --explain UserDB
      attractor search "token lifetime" --query "how long is a token valid"
      attractor search outage --type pdf --after 2026-01-01 --facet source
      attractor search '"duplicate receipts" -test' --strict --around section
      attractor search "token lifetime" --type pdf --why 2f0c...
      attractor search "open questions" --session 2f0c... --json | jq .hits
    """
    if why:
        asked: SearchOptions = {**filters, **ranking}
        absence = await client.search.why(words, why, **asked)
        output.json(absence) if output.as_json else show_why(output, absence)
        return
    people = not output.as_json  # they see which words were corrected; the explanation has them
    options: SearchOptions = {**filters, **ranking, "highlight": people, "explain": explain or people}
    found = await client.search(words, **options)
    show_found(output, found, explain) if people else output.json(found)
