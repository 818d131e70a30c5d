"""Dependencies: closures in one direction, and the cycles through an entity."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from knowledge_graph.graph_store import Dependent, Direction
from knowledge_graph.searches.links import Steps

DEEPEST, MOST = 10, 1_000


async def closure(
    store: Steps,
    workspace_id: UUID,
    entity_id: str,
    direction: Direction,
    relation_types: Sequence[str],
    depth: int,
    limit: int,
) -> list[Dependent]:
    """Implements `GraphStore.closure`."""
    found: dict[str, Dependent] = {}
    frontier, left = [entity_id], min(limit, MOST)
    for level in range(1, min(depth, DEEPEST) + 1):
        if not frontier or left <= 0:
            break
        seen = [entity_id, *found]
        steps = await store.steps(workspace_id, frontier, direction, relation_types, seen, left)
        found |= {one.id: Dependent(one.id, one.name, level, one.via) for one in steps}
        frontier, left = [one.id for one in steps], left - len(steps)
    return list(found.values())


async def cycles(
    store: Steps, workspace_id: UUID, entity_id: str, relation_types: Sequence[str], limit: int
) -> list[list[str]]:
    """Implements `GraphStore.cycles`: the shortest way back from each entity that it leads to."""
    back = {
        one.id: one for one in await closure(store, workspace_id, entity_id, "in", relation_types, DEEPEST - 1, MOST)
    }
    if not back:
        return []
    first = await store.successors(workspace_id, entity_id, relation_types, sorted(back))
    found = []
    for one in first:
        cycle, at = [entity_id], one
        while at != entity_id:
            cycle.append(at)
            at = back[at].via
        found.append(cycle)
    return sorted(found, key=lambda cycle: (len(cycle), cycle))[:limit]
