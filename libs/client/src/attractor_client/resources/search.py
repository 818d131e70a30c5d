"""Search over the chunks of the workspace, of a session's documents, or of every workspace that the caller may read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict, Unpack
from uuid import UUID

from attractor_client.http.transport import Transport
from contracts.retrieval import (
    Around,
    Facet,
    SearchMode,
    SearchRequest,
    SearchResponse,
    SearchScope,
    WhyRequest,
    WhyResponse,
)

SEARCH = "/v1/search"


class Filters(TypedDict, total=False):
    """The filters of `contracts.retrieval.SearchFilters`; None does not limit the search."""

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
    """The ranking and output options of `contracts.retrieval.SearchRequest`."""

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
        """Returns the `k` chunks (1 to 100, by default 10) that match best, best first.

        Raises pydantic.ValidationError if an argument is out of range.
        """
        return await self.ask(search_request(query, options))

    async def ask(self, request: SearchRequest) -> SearchResponse:
        """Sends a request that was built before, for instance by `search_request`."""
        return await self.transport.query(SEARCH, request, SearchResponse)

    async def why(self, query: str, document_id: UUID, **options: Unpack[SearchOptions]) -> WhyResponse:
        """Returns where a document is in this search, or what keeps it out."""
        body = WhyRequest.model_validate({"query": query, "document_id": document_id, **listed(options)})
        return await self.transport.query(f"{SEARCH}/why", body, WhyResponse)

    async def timed(self, request: SearchRequest) -> tuple[SearchResponse, float]:
        """Returns the response and the seconds it took, not counting failed attempts."""
        answer = await self.transport.send("POST", SEARCH, body=request, repeatable=True)
        return self.transport.parse(answer, SearchResponse), answer.elapsed.total_seconds()


def search_request(query: str, options: SearchOptions) -> SearchRequest:
    """Builds a request from options. Raises pydantic.ValidationError if one is out of range."""
    return SearchRequest.model_validate({"query": query, **listed(options)})


def listed(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options as strict models take them: every sequence as a list."""
    return {
        name: value if isinstance(value, str) or not isinstance(value, Sequence) else list(value)
        for name, value in options.items()
    }
