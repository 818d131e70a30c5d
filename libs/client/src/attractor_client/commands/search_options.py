"""The options of a search: filters, ranking and output."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

import typer

from attractor_client.resources.search import Filters, SearchOptions
from contracts.formats import MEDIA_TYPES
from contracts.ingestion import OriginKind
from contracts.retrieval import Around, Facet, SearchMode, SearchScope

LIMITS, RANKING, ALONG = "Filters", "Ranking", "Output"
DATES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"]

Mode = Annotated[
    SearchMode | None, typer.Option(help="Ranking mode; default: the workspace's.", rich_help_panel=RANKING)
]
NoGraph = Annotated[bool, typer.Option("--no-graph", help="Do not use the knowledge graph.", rich_help_panel=RANKING)]
NoRerank = Annotated[bool, typer.Option("--no-rerank", help="Do not use the reranker.", rich_help_panel=RANKING)]


def filters(
    scope: Annotated[
        SearchScope | None,
        typer.Option(help="`session` needs --session; `global` covers all your workspaces.", rich_help_panel=LIMITS),
    ] = None,
    session: Annotated[
        UUID | None,
        typer.Option("--session", "-s", help="Only documents attached to this session.", rich_help_panel=LIMITS),
    ] = None,
    document: Annotated[
        list[UUID] | None,
        typer.Option("--document", "-d", help="Only this document; repeatable.", rich_help_panel=LIMITS),
    ] = None,
    source: Annotated[
        list[UUID] | None, typer.Option(help="Only this source; repeatable.", rich_help_panel=LIMITS)
    ] = None,
    source_type: Annotated[
        list[OriginKind] | None,
        typer.Option(help="Only documents of this origin; repeatable.", rich_help_panel=LIMITS),
    ] = None,
    media_type: Annotated[
        list[str] | None,
        typer.Option(
            "--type", help="Only this type, such as pdf, md or text/html; repeatable.", rich_help_panel=LIMITS
        ),
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(help="Only documents with any of these tags; repeatable.", rich_help_panel=LIMITS),
    ] = None,
    language: Annotated[
        list[str] | None, typer.Option(help="Only this language, such as en or de; repeatable.", rich_help_panel=LIMITS)
    ] = None,
    after: Annotated[
        datetime | None,
        typer.Option(
            metavar="DATE", formats=DATES, help="Only documents written at or after this time.", rich_help_panel=LIMITS
        ),
    ] = None,
    before: Annotated[
        datetime | None,
        typer.Option(
            metavar="DATE", formats=DATES, help="Only documents written at or before this time.", rich_help_panel=LIMITS
        ),
    ] = None,
    metadata: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JSONPATH", help="""'$.authors[*] ? (@ == "Ada")'; all must match.""", rich_help_panel=LIMITS
        ),
    ] = None,
) -> Filters:
    """Returns the filters. A session implies the scope `session`; times without a zone are in this machine's zone."""
    limits: Filters = {
        "session_id": session,
        "document_ids": document,
        "source_ids": source,
        "source_types": [one.value for one in source_type] if source_type else None,
        "media_types": [MEDIA_TYPES.get(one.lower().lstrip("."), one) for one in media_type] if media_type else None,
        "tags": tag,
        "languages": language,
        "written_from": after.astimezone() if after else None,
        "written_to": before.astimezone() if before else None,
        "metadata": metadata or [],
    }
    if scope or session:
        limits["scope"] = scope or SearchScope.session
    return limits


def ranking(
    k: Annotated[
        int, typer.Option("-k", min=1, max=100, help="Number of chunks to return.", rich_help_panel=RANKING)
    ] = 5,
    mode: Mode = None,
    query: Annotated[
        list[str] | None, typer.Option(help="An alternative wording of the query; repeatable.", rich_help_panel=RANKING)
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help='Require "phrases" and exclude -words.', rich_help_panel=RANKING)
    ] = False,
    no_graph: NoGraph = False,
    no_rerank: NoRerank = False,
    per_document: Annotated[
        int | None, typer.Option(min=1, max=100, help="Maximum number of chunks per document.", rich_help_panel=RANKING)
    ] = None,
    keep_duplicates: Annotated[
        bool, typer.Option("--keep-duplicates", help="Do not fold near-duplicate chunks.", rich_help_panel=RANKING)
    ] = False,
    around: Annotated[
        Around, typer.Option(help="Show the text around each chunk.", rich_help_panel=ALONG)
    ] = Around.nothing,
    facet: Annotated[
        list[Facet] | None,
        typer.Option(help="Count the matching documents by this; repeatable.", rich_help_panel=ALONG),
    ] = None,
) -> SearchOptions:
    return {
        "k": k,
        "mode": mode,
        "queries": query or [],
        "strict": strict,
        "use_graph": not no_graph,
        "rerank": not no_rerank,
        "max_per_document": per_document,
        "fold_duplicates": not keep_duplicates,
        "around": around,
        "facets": facet or [],
    }
