"""Finds the shortest paths between two entities, and the neighbours of one."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from contracts.graph_tools import (
    EntityPath,
    NearEntity,
    Neighbours,
    NeighboursFound,
    PathsFound,
    ShortestPath,
)
from knowledge_graph.extraction.relation_types import with_below
from knowledge_graph.graph_store import GraphStore, StoredRelation
from knowledge_graph.tools.naming import meant

MOST_RELATIONS = 400


async def shortest_path(store: GraphStore, workspace_id: UUID, request: ShortestPath) -> PathsFound:
    """Finds the shortest paths. Raises NoToolResult if one of the two is unknown."""
    source = await meant(store, workspace_id, request.source)
    target = await meant(store, workspace_id, request.target)
    given = {"source": source.entity, "target": target.entity}
    alternatives = [*source.alternatives, *target.alternatives]
    if source.id == target.id:
        return PathsFound(**given, alternatives=alternatives, paths=[], note="both names mean the same entity")
    types = with_below(request.relation_types) if request.relation_types else None
    paths = await store.shortest_paths(workspace_id, source.id, target.id, request.max_length, request.limit, types)
    ids = sorted({entity for path in paths for entity in path.entities})
    names = {one.id: one.name for one in await store.entities(workspace_id, ids)} if ids else {}
    kinds = f" over {', '.join(request.relation_types)}" if request.relation_types else ""
    note = None if paths else f"no path of up to {request.max_length} steps{kinds} was found"
    return PathsFound(
        **given,
        alternatives=alternatives,
        paths=[
            EntityPath(
                names=[names.get(entity, entity) for entity in path.entities],
                ids=list(path.entities),
                relations=[one.to_contract(names) for one in path.relations],
            )
            for path in paths
        ],
        note=note,
    )


async def neighbours(store: GraphStore, workspace_id: UUID, request: Neighbours) -> NeighboursFound:
    """Finds the neighbours. Raises NoToolResult if the entity is unknown."""
    found = await meant(store, workspace_id, request.entity)
    relations = await store.relations_of(workspace_id, found.id, MOST_RELATIONS)
    near = await near_entities(
        store, workspace_id, found.id, relations, request.limit, request.min_mentions, request.min_weight
    )
    return NeighboursFound(entity=found.entity, alternatives=found.alternatives, neighbours=near)


async def near_entities(
    store: GraphStore,
    workspace_id: UUID,
    entity_id: str,
    relations: Sequence[StoredRelation],
    limit: int,
    min_mentions: int = 1,
    min_weight: float = 0.0,
) -> list[NearEntity]:
    """Returns the entity's neighbours with their types, and the types of those `relations` that link them to it."""
    near = await store.neighbours(workspace_id, [entity_id], limit, min_mentions, min_weight)
    types = {one.id: one.entity_type for one in await store.entities(workspace_id, sorted(one.id for one in near))}
    ties: dict[str, set[str]] = {}
    for one in relations:
        other = one.target_id if one.source_id == entity_id else one.source_id
        ties.setdefault(other, set()).add(one.relation_type)
    return [
        NearEntity(
            id=one.id,
            name=one.name,
            entity_type=types.get(one.id, "ENTITY"),
            mentions=one.mentions,
            weight=one.weight,
            relation_types=sorted(ties.get(one.id, ())),
        )
        for one in near
    ]
