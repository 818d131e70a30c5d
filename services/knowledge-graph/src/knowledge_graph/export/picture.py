"""The part of the graph that fits on a screen."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from psycopg.errors import QueryCanceled

from contracts.graph_picture import Subgraph, SubgraphEdge, SubgraphNode
from knowledge_graph.errors import EntityNotFound
from knowledge_graph.graph_store import GraphStore, SubgraphBounds
from knowledge_graph.store.reader import GraphReader
from knowledge_graph.tools.naming import MeantEntity, NoToolResult, meant
from service_kit.problems import Unavailable


@dataclass(frozen=True)
class SubgraphQuery:
    """`entity` None means the most central part. `min_mentions` does not apply to the entity itself."""

    entity: str | None
    hops: int
    bounds: SubgraphBounds


async def subgraph(reader: GraphReader, workspace_id: UUID, wanted: SubgraphQuery) -> Subgraph:
    """Returns the subgraph. Raises EntityNotFound, which names similar ones, and Unavailable if it takes too long."""

    async def read(store: GraphStore) -> Subgraph:
        centre = await _centre(store, workspace_id, wanted.entity) if wanted.entity is not None else None
        ids = [centre.id] if centre else None
        found = await store.subgraph(workspace_id, ids, wanted.hops, wanted.bounds)
        bounds = wanted.bounds
        return Subgraph(
            centre=centre.entity if centre else None,
            nodes=[
                SubgraphNode(
                    id=one.id,
                    name=one.name,
                    entity_type=one.entity_type,
                    mentions=one.mentions,
                    documents=one.documents,
                )
                for one in found.nodes
            ],
            edges=[
                SubgraphEdge(
                    source=one.source_id,
                    target=one.target_id,
                    relation_type=one.relation_type,
                    weight=one.weight,
                    evidence=one.evidence,
                )
                for one in found.relations
            ],
            truncated=len(found.nodes) >= bounds.max_nodes or len(found.relations) >= bounds.max_edges,
            store=store.name,
        )

    try:
        return (await reader.read(workspace_id, "subgraph", read))[0]
    except QueryCanceled as error:
        raise Unavailable("this took too long; ask for fewer hops or nodes") from error


async def _centre(store: GraphStore, workspace_id: UUID, name: str) -> MeantEntity:
    try:
        return await meant(store, workspace_id, name)
    except NoToolResult as error:
        raise EntityNotFound(str(error), suggestions=error.suggestions) from error
