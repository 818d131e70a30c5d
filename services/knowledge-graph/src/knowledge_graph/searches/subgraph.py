"""Finds a part of the graph for display."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from knowledge_graph.graph_store import StoredSubgraph, SubgraphBounds
from knowledge_graph.searches.links import Steps

FAN_OUT = 50


async def subgraph(
    store: Steps, workspace_id: UUID, ids: Sequence[str] | None, hops: int, bounds: SubgraphBounds
) -> StoredSubgraph:
    """Implements `GraphStore.subgraph`."""
    if ids is None:
        central = await store.ranked(workspace_id, "degree", None, bounds.min_mentions, bounds.max_nodes)
        nodes = [one.entity for one in central]
    else:
        known = {one.id: one for one in await store.entities(workspace_id, sorted(set(ids)))}
        wanted = [one for one in dict.fromkeys(ids) if one in known][: bounds.max_nodes]
        around = await _around(store, workspace_id, wanted, hops, bounds)
        known |= {one.id: one for one in await store.entities(workspace_id, around)}
        nodes = [known[one] for one in around if one in known]
    relations = await store.relations_among(
        workspace_id, [one.id for one in nodes], bounds.relation_types, bounds.max_edges
    )
    return StoredSubgraph(nodes, relations)


async def _around(store: Steps, workspace_id: UUID, ids: list[str], hops: int, bounds: SubgraphBounds) -> list[str]:
    """Returns ids, nearest first, then by the strength of the strongest relation to a nearer entity."""
    found, frontier = dict.fromkeys(ids), ids
    for _ in range(hops):
        if not frontier or len(found) >= bounds.max_nodes:
            break
        fan_out = max(FAN_OUT, bounds.max_nodes // len(frontier))  # one entity alone may have neighbours for all places
        near = await store.neighbours(
            workspace_id, frontier, fan_out, bounds.min_mentions, relation_types=bounds.relation_types
        )
        strongest: dict[str, float] = {}
        for one in near:
            if one.id not in found:
                strongest[one.id] = max(one.weight, strongest.get(one.id, 0.0))
        ranked = sorted(strongest, key=lambda one: (-strongest[one], one))
        frontier = ranked[: bounds.max_nodes - len(found)]
        found |= dict.fromkeys(frontier)
    return list(found)
