"""The knowledge graph: entities, relations, what is near to them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from attractor_client.pages import every
from attractor_client.transport import Transport, path
from contracts.base import Page
from contracts.knowledge_graph import Entity, EntityDetail, ExpandRequest, ExpandResponse, GraphStatus


class Graph:
    """`client.graph`."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def entities(self, *, query: str | None = None, entity_type: str | None = None) -> AsyncIterator[Entity]:
        """Every entity whose name begins with `query`, in any spelling, the most mentioned first."""
        params = {"q": query, "entity_type": entity_type}
        return every(self.transport, "/v1/graph/entities", Page[Entity], params)

    async def entity(self, entity_id: str) -> EntityDetail:
        """With its relations and the passages that mention it."""
        return await self.transport.get(path("v1/graph/entities", entity_id), EntityDetail)

    async def expand(
        self, query: str | None = None, *, entities: Sequence[str] = (), max_hops: int = 2, limit: int = 50
    ) -> ExpandResponse:
        """The passages near the entities that are named, or that the query names; `max_hops` 0 to 3."""
        request = ExpandRequest(query=query, entities=list(entities), max_hops=max_hops, limit=limit)
        return await self.transport.query("/v1/graph/expand", request, ExpandResponse)

    async def status(self) -> GraphStatus:
        """How large the graph is and which store answers."""
        return await self.transport.get("/v1/graph/status", GraphStatus)
