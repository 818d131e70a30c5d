"""Embedding spaces: the models in which a workspace can be searched."""

from __future__ import annotations

from collections.abc import AsyncIterator

from attractor_client.http.pages import every
from attractor_client.http.transport import Transport, path
from contracts.base import Page
from contracts.embedding_spaces import EmbeddingSpaceCreate, EmbeddingSpaceState

SPACES = "/v1/embedding-spaces"


class EmbeddingSpaces:
    """`client.spaces`. Changing them takes an owner's key."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def all(self) -> AsyncIterator[EmbeddingSpaceState]:
        """Those that are built, and those whose model is configured."""
        return every(self.transport, SPACES, Page[EmbeddingSpaceState])

    async def get(self, space_id: str) -> EmbeddingSpaceState:
        return await self.transport.get(path("v1/embedding-spaces", space_id), EmbeddingSpaceState)

    async def create(self, model: str, *, dims: int | None = None, activate: bool = True) -> EmbeddingSpaceState:
        """Builds the vectors of every chunk in the background; searches go on in the active space meanwhile."""
        body = EmbeddingSpaceCreate(model=model, dims=dims, activate=activate)
        return await self.transport.create(SPACES, body, EmbeddingSpaceState)

    async def activate(self, space_id: str) -> EmbeddingSpaceState:
        """Searches go to this space, at once when it is complete, else as soon as it is."""
        answer = await self.transport.send("POST", path("v1/embedding-spaces", space_id, "activate"))
        return self.transport.parse(answer, EmbeddingSpaceState)

    async def delete(self, space_id: str) -> None:
        """Drops its vectors; raises Conflict for the active one."""
        await self.transport.send("DELETE", path("v1/embedding-spaces", space_id))
