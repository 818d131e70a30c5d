"""Search over the passages of the workspace, of a session's documents, or of every workspace that the caller reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict, Unpack
from uuid import UUID

from attractor_client.http.transport import Transport
from contracts.retrieval import Around, Facet, SearchMode, SearchRequest, SearchResponse, SearchScope

SEARCH = "/v1/search"


class Filters(TypedDict, total=False):
    """What a search is limited to, as `contracts.retrieval.SearchFilters` says; None does not limit."""

    scope: SearchScope
    session_id: UUID | None
    document_ids: Sequence[UUID] | None
    source_ids: Sequence[UUID] | None
    media_types: Sequence[str] | None
    source_types: Sequence[str] | None
    tags: Sequence[str] | None
    languages: Sequence[str] | None
    written_from: datetime | None
    written_to: datetime | None
    metadata: Sequence[str]


class SearchOptions(Filters, total=False):
    """How it is ranked and what comes along, as `contracts.retrieval.SearchRequest` says."""

    queries: Sequence[str]
    k: int
    mode: SearchMode | None
    strict: bool
    use_graph: bool
    rerank: bool
    fold_duplicates: bool
    max_per_document: int | None
    around: Around
    facets: Sequence[Facet]
    highlight: bool
    explain: bool


class Search:
    """`client.search`."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def __call__(self, query: str, **options: Unpack[SearchOptions]) -> SearchResponse:
        """The `k` passages (1 to 100, by default 10) that fit best, best first.

        Raises pydantic.ValidationError where an argument is out of its range.
        """
        return await self.ask(search_request(query, options))

    async def ask(self, request: SearchRequest) -> SearchResponse:
        """The answer to a request that is made already."""
        return await self.transport.query(SEARCH, request, SearchResponse)

    async def timed(self, request: SearchRequest) -> tuple[SearchResponse, float]:
        """The answer, and the seconds from sending the request to its end; attempts that failed do not count."""
        answer = await self.transport.send("POST", SEARCH, body=request, repeatable=True)
        return self.transport.parse(answer, SearchResponse), answer.elapsed.total_seconds()


def search_request(query: str, options: SearchOptions) -> SearchRequest:
    """Raises pydantic.ValidationError where an option is out of its range."""
    return SearchRequest.model_validate({"query": query, **listed(options)})


def listed(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as a model takes them: any sequence as a list."""
    return {
        name: value if isinstance(value, str) or not isinstance(value, Sequence) else list(value)
        for name, value in options.items()
    }
