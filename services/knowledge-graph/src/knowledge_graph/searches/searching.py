"""The searches as methods, for stores that implement the single steps."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from uuid import UUID

from knowledge_graph.graph_store import (
    Bounds,
    Dependent,
    Direction,
    GraphCounts,
    GraphPath,
    Measure,
    Ranked,
    Reached,
    StoredSubgraph,
    SubgraphBounds,
)
from knowledge_graph.searches import dependencies, paths, reach, subgraph
from knowledge_graph.searches.links import Steps


class Searching(Steps, ABC):
    """Implements the searches of `GraphStore` on top of `Steps`."""

    async def reach(self, workspace_id: UUID, seeds: Sequence[str], hops: int, bounds: Bounds) -> list[Reached]:
        return await reach.reach(self, workspace_id, seeds, hops, bounds)

    async def subgraph(
        self, workspace_id: UUID, ids: Sequence[str] | None, hops: int, bounds: SubgraphBounds
    ) -> StoredSubgraph:
        return await subgraph.subgraph(self, workspace_id, ids, hops, bounds)

    async def shortest_paths(
        self,
        workspace_id: UUID,
        source: str,
        target: str,
        max_length: int,
        limit: int,
        relation_types: Sequence[str] | None = None,
    ) -> list[GraphPath]:
        return await paths.shortest_paths(self, workspace_id, source, target, max_length, limit, relation_types)

    async def closure(
        self,
        workspace_id: UUID,
        entity_id: str,
        direction: Direction,
        relation_types: Sequence[str],
        depth: int,
        limit: int,
    ) -> list[Dependent]:
        return await dependencies.closure(self, workspace_id, entity_id, direction, relation_types, depth, limit)

    async def cycles(
        self, workspace_id: UUID, entity_id: str, relation_types: Sequence[str], limit: int
    ) -> list[list[str]]:
        return await dependencies.cycles(self, workspace_id, entity_id, relation_types, limit)

    async def top(self, workspace_id: UUID, by: Measure, entity_type: str | None, limit: int) -> list[Ranked]:
        return await self.ranked(workspace_id, by, entity_type, 1, limit)

    async def centrality(self, workspace_id: UUID, limit: int) -> list[Ranked]:
        relations = (await self.statistics(workspace_id)).relations
        ranked = await self.ranked(workspace_id, "degree", None, 1, limit)
        return [Ranked(one.entity, one.score / max(1, relations)) for one in ranked]


def counted(rows: Sequence[tuple[str, str, int, int]]) -> GraphCounts:
    """Sums rows of (what is counted, kind, number, mentions); kinds by number, highest first."""
    by_type = {kind: number for what, kind, number, _ in sorted(rows, key=_most) if what == "entity"}
    by_relation = {kind: number for what, kind, number, _ in sorted(rows, key=_most) if what == "relation"}
    entities = sum(by_type.values())
    mentions = sum(mentions for what, _, _, mentions in rows if what == "entity")
    documents = sum(number for what, _, number, _ in rows if what == "document")
    average = round(mentions / entities, 4) if entities else 0.0
    return GraphCounts(entities, sum(by_relation.values()), documents, by_type, by_relation, average)


def _most(row: tuple[str, str, int, int]) -> tuple[int, str]:
    return -row[2], row[1]
