"""From names to the chunks around them: breadth first, bounded at every hop, the same over every store."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from contracts.knowledge_graph import ExpandedChunk
from knowledge_graph.graph_store import GraphStore, Neighbour, StoredEntity

HOP_PENALTY = 0.3
HUB_DAMPING = 0.15
FAN_OUT = 20
"""Neighbours that are followed from one entity."""
WIDEST_HOP = 200
"""Entities of one hop from which the next one starts."""


@dataclass(frozen=True)
class Reached:
    """An entity, the hop at which it was first reached, the names on the way to it, and its score."""

    id: str
    hop: int
    path: tuple[str, ...]
    score: float


async def expand(
    store: GraphStore, workspace_id: UUID, seeds: Sequence[StoredEntity], max_hops: int, limit: int
) -> list[ExpandedChunk]:
    """The best `limit` chunks; a chunk takes the score of the best entity that it mentions, ties go by its id."""
    reached = {seed.id: Reached(seed.id, 0, (seed.name,), score(0, seed.mentions)) for seed in seeds}
    frontier = sorted(reached.values(), key=_rank)[:WIDEST_HOP]
    for hop in range(1, max_hops + 1):
        if not frontier:
            break
        near = await store.neighbours(workspace_id, [one.id for one in frontier], FAN_OUT)
        found = _next_hop(hop, near, {one.id: one for one in frontier}, reached)
        reached |= {one.id: one for one in found}
        frontier = found[:WIDEST_HOP]
    best: dict[str, ExpandedChunk] = {}
    # Better entities first, so the first that mentions a chunk is its best.
    ranked = {one.id: one for one in sorted(reached.values(), key=_rank)}
    rows = await store.chunks_of(workspace_id, list(ranked), limit)
    place = {entity: number for number, entity in enumerate(ranked)}
    for row in sorted(rows, key=lambda row: (place[row.entity_id], -row.mentions, row.chunk_id)):
        by = ranked[row.entity_id]
        best.setdefault(
            row.chunk_id,
            ExpandedChunk(
                chunk_id=row.chunk_id, document_id=row.document_id, hop=by.hop, path=list(by.path), score=by.score
            ),
        )
    return sorted(best.values(), key=lambda chunk: (-chunk.score, chunk.hop, chunk.chunk_id))[:limit]


def score(hop: int, mentions: int) -> float:
    """1 / (1 + 0.3 × hop), and up to 15 % less the more often the entity is mentioned: a hub says little.

    The damping is too weak to put an entity behind those of the next hop (up to hop 3).
    """
    rarity = 1 / (1 + math.log(max(1, mentions)))
    return (1 - HUB_DAMPING * (1 - rarity)) / (1 + HOP_PENALTY * hop)


def _next_hop(
    hop: int, near: Sequence[Neighbour], frontier: dict[str, Reached], reached: dict[str, Reached]
) -> list[Reached]:
    """Each new entity by its strongest relation, then from the better origin; best entities first."""
    new: dict[str, Reached] = {}
    for one in sorted(near, key=lambda one: (-one.weight, _rank(frontier[one.origin]), one.id)):
        if one.id not in reached and one.id not in new:
            path = (*frontier[one.origin].path, one.name)
            new[one.id] = Reached(one.id, hop, path, score(hop, one.mentions))
    return sorted(new.values(), key=_rank)


def _rank(one: Reached) -> tuple[float, str]:
    return -one.score, one.id
