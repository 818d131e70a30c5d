"""The single steps that the searches need of a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from knowledge_graph.graph_store import Direction, Measure, Neighbour, Ranked, Statistics, StoredEntity, StoredRelation


@dataclass(frozen=True)
class Link:
    """An entity `other` linked with `origin`, in either direction."""

    origin: str
    other: str


@dataclass(frozen=True)
class Step:
    """An entity one step further on, reached from the entity `via`."""

    id: str
    name: str
    via: str


class Steps(Protocol):
    """Single steps through the graph; each is one bounded query."""

    async def entities(self, workspace_id: UUID, ids: Sequence[str]) -> list[StoredEntity]: ...

    async def degrees(self, workspace_id: UUID, ids: Sequence[str]) -> dict[str, tuple[int, int]]: ...

    async def ranked(
        self, workspace_id: UUID, by: Measure, entity_type: str | None, min_mentions: int, limit: int
    ) -> list[Ranked]:
        """Returns the highest ranked first, then by id."""
        ...

    async def statistics(self, workspace_id: UUID) -> Statistics: ...

    async def neighbours(
        self,
        workspace_id: UUID,
        ids: Sequence[str],
        fan_out: int,
        min_mentions: int = 1,
        min_weight: float = 0.0,
        relation_types: Sequence[str] | None = None,
    ) -> list[Neighbour]: ...

    async def links(self, workspace_id: UUID, ids: Sequence[str], relation_types: Sequence[str] | None) -> list[Link]:
        """Returns all links, unbounded: the caller has checked the degrees."""
        ...

    async def steps(
        self,
        workspace_id: UUID,
        ids: Sequence[str],
        direction: Direction,
        relation_types: Sequence[str],
        seen: Sequence[str],
        limit: int,
    ) -> list[Step]:
        """Returns the entities that are not in `seen`, by id, each with the smallest id that leads to it."""
        ...

    async def relations_among(
        self, workspace_id: UUID, ids: Sequence[str], relation_types: Sequence[str] | None, limit: int
    ) -> list[StoredRelation]:
        """Returns the strongest relations first, then by source, target and type."""
        ...

    async def successors(
        self, workspace_id: UUID, entity_id: str, relation_types: Sequence[str], among: Sequence[str]
    ) -> list[str]:
        """Returns those of `among` to which the entity has a relation, by id."""
        ...
