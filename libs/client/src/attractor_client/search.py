"""Search over the passages of the workspace."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from attractor_client.transport import Transport
from contracts.retrieval import SearchMode, SearchRequest, SearchResponse


class Search:
    """`client.search`."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def __call__(
        self,
        query: str,
        *,
        k: int = 10,
        mode: SearchMode = SearchMode.hybrid,
        document_ids: Sequence[UUID] | None = None,
        media_types: Sequence[str] | None = None,
        highlight: bool = False,
        explain: bool = False,
    ) -> SearchResponse:
        """The `k` passages (1 to 100) that fit best, best first. `document_ids` limits where it looks.

        Raises pydantic.ValidationError where an argument is out of its range.
        """
        request = SearchRequest(
            query=query,
            k=k,
            mode=mode,
            document_ids=None if document_ids is None else list(document_ids),
            media_types=None if media_types is None else list(media_types),
            highlight=highlight,
            explain=explain,
        )
        return await self.transport.query("/v1/search", request, SearchResponse)
