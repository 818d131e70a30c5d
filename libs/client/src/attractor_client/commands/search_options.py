"""The options of a search: what it is limited to, how it is ranked, what comes along."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

import typer

from attractor_client.search import Filters, SearchOptions
from contracts.formats import MEDIA_TYPES
from contracts.ingestion import OriginKind
from contracts.retrieval import Around, Facet, SearchMode, SearchScope

LIMITS, RANKING, ALONG = "What is searched", "How it is ranked", "What comes along"
DATES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"]

Mode = Annotated[SearchMode | None, typer.Option(help="By default as the workspace is set.", rich_help_panel=RANKING)]
NoGraph = Annotated[bool, typer.Option("--no-graph", help="Without the knowledge graph.", rich_help_panel=RANKING)]
NoRerank = Annotated[bool, typer.Option("--no-rerank", help="Without the reranker.", rich_help_panel=RANKING)]


def filters(
    scope: Annotated[
        SearchScope | None,
        typer.Option(help="session with --session; global: all your workspaces.", rich_help_panel=LIMITS),
    ] = None,
    session: Annotated[
        UUID | None, typer.Option("--session", "-s", help="The documents of this session.", rich_help_panel=LIMITS)
    ] = None,
    document: Annotated[
        list[UUID] | None, typer.Option("--document", "-d", help="This document; repeatable.", rich_help_panel=LIMITS)
    ] = None,
    source: Annotated[list[UUID] | None, typer.Option(help="This source; repeatable.", rich_help_panel=LIMITS)] = None,
    source_type: Annotated[
        list[OriginKind] | None, typer.Option(help="Where it came from; repeatable.", rich_help_panel=LIMITS)
    ] = None,
    media_type: Annotated[
        list[str] | None, typer.Option("--type", help="pdf, md, text/html, …; repeatable.", rich_help_panel=LIMITS)
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Any of these tags.", rich_help_panel=LIMITS)] = None,
    language: Annotated[list[str] | None, typer.Option(help="en, de, …; repeatable.", rich_help_panel=LIMITS)] = None,
    after: Annotated[
        datetime | None,
        typer.Option(metavar="DATE", formats=DATES, help="Written then or later.", rich_help_panel=LIMITS),
    ] = None,
    before: Annotated[
        datetime | None,
        typer.Option(metavar="DATE", formats=DATES, help="Written then or earlier.", rich_help_panel=LIMITS),
    ] = None,
    metadata: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JSONPATH", help="""'$.authors[*] ? (@ == "Ada")'; all must find.""", rich_help_panel=LIMITS
        ),
    ] = None,
) -> Filters:
    """A session is the scope of its own accord. Times without a zone are those of this machine."""
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
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="Passages to find.", rich_help_panel=RANKING)] = 5,
    mode: Mode = None,
    query: Annotated[
        list[str] | None, typer.Option(help="A further wording; repeatable.", rich_help_panel=RANKING)
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help='"phrases" are required, -words excluded.', rich_help_panel=RANKING)
    ] = False,
    no_graph: NoGraph = False,
    no_rerank: NoRerank = False,
    per_document: Annotated[
        int | None, typer.Option(min=1, max=100, help="Passages of a document at most.", rich_help_panel=RANKING)
    ] = None,
    keep_duplicates: Annotated[
        bool, typer.Option("--keep-duplicates", help="Do not fold nearly equal passages.", rich_help_panel=RANKING)
    ] = False,
    around: Annotated[
        Around, typer.Option(help="Show the text around each passage.", rich_help_panel=ALONG)
    ] = Around.nothing,
    facet: Annotated[
        list[Facet] | None, typer.Option(help="Count what was searched by this; repeatable.", rich_help_panel=ALONG)
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
