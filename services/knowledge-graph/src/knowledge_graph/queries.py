"""The use cases that read the graph: lists, one entity, expansion, status."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import Query

from contracts.graph_expansion import ExpandRequest, ExpandResponse, GraphMethod
from contracts.knowledge_graph import (
    EntityDetail,
    GraphedDocument,
    GraphStatus,
)
from knowledge_graph.errors import EntityNotFound
from knowledge_graph.expansion.bridging import Bridging, entities, names_of
from knowledge_graph.expansion.hops import expand
from knowledge_graph.expansion.linking import without_names
from knowledge_graph.extraction.extractor import Extractor
from knowledge_graph.graph_store import EntityFilter, GraphStore, StoredEntity
from knowledge_graph.store.reader import GraphReader
from service_kit.routes import from_state

MOST_RELATIONS = 100
MOST_CHUNKS = 100


@dataclass(frozen=True)
class GraphQueries:
    """Reads the graph of a workspace."""

    reader: GraphReader
    extractor: Extractor
    bridging: Bridging
    min_entity_freq: int

    def least(self, given: int | None) -> int:
        """Returns the fewest mentions with which an entity is listed."""
        return self.min_entity_freq if given is None else given

    async def list_entities(self, workspace_id: UUID, wanted: EntityFilter) -> list[StoredEntity]:
        found, _ = await self.reader.read(
            workspace_id, "entities", lambda store: store.list_entities(workspace_id, wanted)
        )
        return found

    async def detail(self, workspace_id: UUID, wanted: str) -> EntityDetail:
        """Returns an entity with its strongest relations and the chunks that mention it. Raises EntityNotFound."""

        async def read(store: GraphStore) -> EntityDetail:
            found = await store.entities(workspace_id, [wanted])
            if not found:
                raise EntityNotFound
            relations = await store.relations_of(workspace_id, wanted, MOST_RELATIONS)
            ends = {end for one in relations for end in (one.source_id, one.target_id)}
            names = {one.id: one.name for one in await store.entities(workspace_id, sorted(ends))}
            chunks = await store.chunks_of(workspace_id, [wanted], MOST_CHUNKS)
            return EntityDetail(
                **found[0].to_contract().model_dump(),
                relations=[one.to_contract(names) for one in relations],
                chunk_ids=[chunk.chunk_id for chunk in chunks],
            )

        return (await self.reader.read(workspace_id, "entity", read))[0]

    async def expand(self, workspace_id: UUID, request: ExpandRequest) -> ExpandResponse:
        """Expands names to chunks; unknown names are ignored."""
        if request.method is GraphMethod.bridge:
            return await self.bridging.expand(workspace_id, request)
        linked, generation = await self.bridging.linked(workspace_id, request.query or "", request.entities)
        seeds = entities(linked)
        least = self.least(request.min_mentions)
        chunks, store = await self.reader.read(
            workspace_id,
            "hops",
            lambda store: expand(store, workspace_id, seeds, request.max_hops, least, request.limit),
        )
        return ExpandResponse(
            entities=[seed.to_contract() for seed in seeds],
            names=names_of(linked),
            residual=without_names(request.query or "", [one for one in linked if one.end]),
            chunks=chunks,
            store=store,
            generation=generation,
        )

    async def status(self, workspace_id: UUID) -> GraphStatus:
        """Counts the workspace; `store` is Neo4j while its projection is up to date and responds."""
        statistics, _ = await self.reader.read(workspace_id, "counts", lambda store: store.statistics(workspace_id))
        return GraphStatus(
            store=await self.reader.current(workspace_id),
            extraction=self.extractor.method,
            entities=statistics.entities,
            relations=statistics.relations,
            documents=statistics.documents,
        )

    async def documents(self, workspace_id: UUID, after: UUID | None, limit: int) -> list[GraphedDocument]:
        """Returns documents in the order of their ids, starting after the given one."""
        found = await self.reader.postgres.documents(workspace_id, after, limit)
        is_projected = self.reader.projection is not None
        return [
            GraphedDocument(
                document_id=one.document_id,
                version=one.version,
                mentions=one.mentions,
                projected=not (is_projected and one.queued),
            )
            for one in found
        ]


UsedQueries = Annotated[GraphQueries, from_state("graph")]
MinMentions = Annotated[
    int | None, Query(ge=1, le=1_000_000, description="Only entities mentioned at least this often")
]
