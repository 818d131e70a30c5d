"""The read interface of the graph. Every store answers alike: one suite runs against all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID


@dataclass(frozen=True)
class StoredEntity:
    """`mentions` and `documents` count in the workspace; `aliases` are the other spellings, most used first."""

    id: str
    name_key: str
    name: str
    entity_type: str
    mentions: int
    documents: int
    aliases: list[str]


@dataclass(frozen=True)
class StoredRelation:
    source_id: str
    target_id: str
    relation_type: str
    weight: float
    evidence: int


@dataclass(frozen=True)
class Neighbour:
    """`id` is linked with `origin`, in either direction; `weight` is that of their strongest relation."""

    origin: str
    id: str
    name: str
    mentions: int
    weight: float


@dataclass(frozen=True)
class MentioningChunk:
    entity_id: str
    chunk_id: str
    document_id: UUID
    mentions: int


@dataclass(frozen=True)
class Statistics:
    entities: int
    relations: int
    documents: int


@dataclass(frozen=True)
class EntityFilter:
    """A page of the list by mentions (most first), then id; `after` is the (mentions, id) of the page before's last."""

    prefix: str | None = None
    entity_type: str | None = None
    after: tuple[int, str] | None = None
    limit: int = 50


class GraphStore(Protocol):
    """Everything is about one workspace, bounded, and empty rather than an error for what is unknown.

    Raises `StoreUnavailable` when the store does not answer.
    """

    name: str

    async def entities(self, workspace_id: UUID, ids: Sequence[str]) -> list[StoredEntity]:
        """Those of the entities that exist, by id."""
        ...

    async def list_entities(self, workspace_id: UUID, wanted: EntityFilter) -> list[StoredEntity]: ...

    async def relations_of(self, workspace_id: UUID, entity_id: str, limit: int) -> list[StoredRelation]:
        """In both directions, strongest first, then by source, target and type."""
        ...

    async def neighbours(self, workspace_id: UUID, ids: Sequence[str], fan_out: int) -> list[Neighbour]:
        """Per entity at most `fan_out`, from its `fan_out` strongest relations of each direction."""
        ...

    async def chunks_of(self, workspace_id: UUID, ids: Sequence[str], limit: int) -> list[MentioningChunk]:
        """Per entity at most `limit` chunks, those that mention it most often first, then by chunk id."""
        ...

    async def statistics(self, workspace_id: UUID) -> Statistics: ...
