"""Expands names to the chunks around them: breadth first over relations, bounded at every hop, over any store."""

from __future__ import annotations

import math
from collections.abc import Sequence
from uuid import UUID

from contracts.graph_expansion import ExpandedChunk
from knowledge_graph.graph_store import Bounds, GraphStore, Reached, StoredEntity

HOP_PENALTY = 0.3
HUB_DAMPING = 0.15
AT_ONCE = 50
"""Entities per query for chunks, best first: two hops reach thousands, but a few have enough chunks."""


async def expand(
    store: GraphStore, workspace_id: UUID, seeds: Sequence[StoredEntity], max_hops: int, min_mentions: int, limit: int
) -> list[ExpandedChunk]:
    """Returns the best `limit` chunks; a chunk's score is that of the best entity it mentions."""
    bounds = Bounds(min_mentions=min_mentions)
    reached = await store.reach(workspace_id, [seed.id for seed in seeds], max_hops, bounds)
    # Better entities come first, so the first one that mentions a chunk is the chunk's best.
    ranked = sorted(reached, key=lambda one: (-score(one.hop, one.mentions), -one.weight, one.id))
    place = {one.id: number for number, one in enumerate(ranked)}
    best: dict[tuple[UUID, str], ExpandedChunk] = {}
    for first in range(0, len(ranked), AT_ONCE):
        ids = [one.id for one in ranked[first : first + AT_ONCE]]
        rows = await store.chunks_of(workspace_id, ids, limit)
        for row in sorted(rows, key=lambda row: (place[row.entity_id], -row.mentions, row.chunk_id)):
            by = ranked[place[row.entity_id]]
            best.setdefault((row.document_id, row.chunk_id), _chunk(row.chunk_id, row.document_id, by))
        if len(best) >= limit:
            break
    return list(best.values())[:limit]


def score(hop: int, mentions: int) -> float:
    """Returns 1 / (1 + 0.3 × hop), reduced by up to 15 % for frequently mentioned entities, because a hub says little.

    The reduction is too small to rank an entity below those of the next hop (up to hop 3).
    """
    rarity = 1 / (1 + math.log(max(1, mentions)))
    return (1 - HUB_DAMPING * (1 - rarity)) / (1 + HOP_PENALTY * hop)


def _chunk(chunk_id: str, document_id: UUID, by: Reached) -> ExpandedChunk:
    return ExpandedChunk(
        chunk_id=chunk_id, document_id=document_id, hop=by.hop, path=list(by.path), score=score(by.hop, by.mentions)
    )
