"""Embedding spaces: the models that a workspace can be searched with."""

from __future__ import annotations

from collections.abc import AsyncIterator

from attractor_client.http.pages import every
from attractor_client.http.transport import Transport, path
from contracts.base import Page
from contracts.embedding_spaces import EmbeddingSpaceCreate, EmbeddingSpaceState

SPACES = "/v1/embedding-spaces"


class EmbeddingSpaces:
    """`client.spaces`. Changes require an owner's key."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def all(self) -> AsyncIterator[EmbeddingSpaceState]:
        """Lists the spaces that exist, and those that could be built because their model is configured."""
        return every(self.transport, SPACES, Page[EmbeddingSpaceState])

    async def get(self, space_id: str) -> EmbeddingSpaceState:
        return await self.transport.get(path("v1/embedding-spaces", space_id), EmbeddingSpaceState)

    async def create(self, model: str, *, dims: int | None = None, activate: bool = True) -> EmbeddingSpaceState:
        """Embeds every chunk in the background; until then, searches use the active space."""
        body = EmbeddingSpaceCreate(model=model, dims=dims, activate=activate)
        return await self.transport.create(SPACES, body, EmbeddingSpaceState)

    async def activate(self, space_id: str) -> EmbeddingSpaceState:
        """Switches searches to this space, now or as soon as it is complete."""
        return await self.transport.fetch(
            "POST", path("v1/embedding-spaces", space_id, "activate"), EmbeddingSpaceState
        )

    async def delete(self, space_id: str) -> None:
        """Deletes the space's vectors; raises Conflict for the active space."""
        await self.transport.send("DELETE", path("v1/embedding-spaces", space_id))
