"""Searches that a team keeps."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID

from attractor_client.http.pages import every
from attractor_client.http.transport import Transport, path
from contracts.base import Page
from contracts.retrieval import SavedSearch, SavedSearchCreate, SavedSearchUpdate, SearchRequest, SearchResponse

SAVED = "/v1/saved-searches"


class SavedSearches:
    """`client.saved_searches`: the workspace's, not the user's alone. Changing them takes an editor's key."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def all(self) -> AsyncIterator[SavedSearch]:
        return every(self.transport, SAVED, Page[SavedSearch])

    async def get(self, saved_id: UUID) -> SavedSearch:
        return await self.transport.get(path("v1/saved-searches", saved_id), SavedSearch)

    async def create(self, name: str, request: SearchRequest, *, idempotency_key: str | None = None) -> SavedSearch:
        """Raises Conflict when the workspace has one of this name."""
        body = SavedSearchCreate(name=name, request=request)
        return await self.transport.create(SAVED, body, SavedSearch, idempotency_key)

    async def update(
        self, saved: SavedSearch, *, name: str | None = None, request: SearchRequest | None = None
    ) -> SavedSearch:
        """What is given is changed; raises StaleVersion when `saved` is not the newest."""
        answer = await self.transport.send(
            "PATCH",
            path("v1/saved-searches", saved.id),
            body=SavedSearchUpdate(name=name, request=request),
            headers={"If-Match": f'"{saved.version}"'},
        )
        return self.transport.parse(answer, SavedSearch)

    async def delete(self, saved_id: UUID) -> None:
        await self.transport.send("DELETE", path("v1/saved-searches", saved_id))

    async def run(self, saved_id: UUID, *, k: int | None = None) -> SearchResponse:
        """What it finds now; `k` passages in place of the saved number."""
        place = path("v1/saved-searches", saved_id, "run")
        answer = await self.transport.send("POST", place, params={"k": k}, repeatable=True)
        return self.transport.parse(answer, SearchResponse)
