"""Breadth-first search from seeds, bounded at every hop."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from knowledge_graph.graph_store import Bounds, Neighbour, Reached
from knowledge_graph.searches.links import Steps


async def reach(store: Steps, workspace_id: UUID, seeds: Sequence[str], hops: int, bounds: Bounds) -> list[Reached]:
    """Implements `GraphStore.reach`: the seeds and the entities reached from them."""
    found = await store.entities(workspace_id, sorted(set(seeds)))
    frontier = [Reached(one.id, one.name, one.mentions, 0, (one.name,), 0.0) for one in found]
    reached = {one.id: one for one in frontier}
    for hop in range(1, hops + 1):
        if not frontier:
            break
        ids = [one.id for one in frontier[: bounds.widest]]
        near = await store.neighbours(workspace_id, ids, bounds.fan_out, bounds.min_mentions)
        frontier = _next_hop(hop, near, reached)
        reached |= {one.id: one for one in frontier}
    return list(reached.values())


def _next_hop(hop: int, near: Sequence[Neighbour], reached: dict[str, Reached]) -> list[Reached]:
    """Returns each new entity by its strongest path; of equal ones by the strongest last relation, then the smallest
    origin.
    """

    def strength(one: Neighbour) -> float:
        return min(one.weight, reached[one.origin].weight) if hop > 1 else one.weight

    new: dict[str, Reached] = {}
    for one in sorted(near, key=lambda one: (-strength(one), -one.weight, one.origin, one.id)):
        if one.id not in reached and one.id not in new:
            path = (*reached[one.origin].path, one.name)
            new[one.id] = Reached(one.id, one.name, one.mentions, hop, path, strength(one))
    return sorted(new.values(), key=lambda one: (-one.weight, one.id))
