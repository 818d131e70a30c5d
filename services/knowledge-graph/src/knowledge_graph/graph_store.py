"""The read interface of the graph. Every store answers alike: one suite runs against all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol
from uuid import UUID

from contracts.knowledge_graph import Entity


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

    def to_contract(self) -> Entity:
        return Entity(
            id=self.id,
            name=self.name,
            entity_type=self.entity_type,
            mentions=self.mentions,
            documents=self.documents,
            aliases=self.aliases,
        )


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
class Match:
    """`how` the name was found: as the entity's `name_key`, as another of its names, as a beginning, or as similar;
    `similarity` is that of trigrams where it is `fuzzy`, else 1."""

    entity: StoredEntity
    how: Literal["exact", "alias", "prefix", "fuzzy"]
    similarity: float


@dataclass(frozen=True)
class StoredEvidence:
    """A place that says a relation: characters `start` to `end` of the chunk's content (0 to 0: the whole chunk)."""

    document_id: UUID
    chunk_id: str
    start: int
    end: int
    confidence: float
    method: str
    phrase: str


@dataclass(frozen=True)
class StoredStatement(StoredEvidence):
    """What was, will be or is not so: `status` is past, planned or negated; `dated` when, as precise as it is said."""

    source_id: str
    target_id: str
    relation_type: str
    status: str
    dated: str | None


@dataclass(frozen=True)
class Bounds:
    """How far a search goes: `fan_out` neighbours of one entity, one hop from at most `widest` entities, and none that
    is mentioned less often than `min_mentions`."""

    fan_out: int = 20
    widest: int = 200
    min_mentions: int = 1


@dataclass(frozen=True)
class Reached:
    """An entity at the `hop` at which it was first reached; `path` are the names from the seed to it, `weight` that of
    the weakest relation on the way (0 at a seed)."""

    id: str
    name: str
    mentions: int
    hop: int
    path: tuple[str, ...]
    weight: float


@dataclass(frozen=True)
class SubgraphBounds:
    """What a subgraph may hold; `relation_types` None stands for every type."""

    max_nodes: int = 100
    max_edges: int = 300
    min_mentions: int = 1
    relation_types: tuple[str, ...] | None = None


@dataclass(frozen=True)
class StoredSubgraph:
    """The relations are those among the nodes, strongest first."""

    nodes: list[StoredEntity]
    relations: list[StoredRelation]


@dataclass(frozen=True)
class GraphPath:
    """`entities` from the source to the target; `relations[n]` is the strongest between `entities[n]` and the next,
    in whichever direction it goes."""

    entities: list[str]
    relations: list[StoredRelation]


@dataclass(frozen=True)
class Dependent:
    """Reached over `depth` relations, the last one from the entity `via`."""

    id: str
    name: str
    depth: int
    via: str


@dataclass(frozen=True)
class GraphCounts:
    entities: int
    relations: int
    documents: int
    by_type: dict[str, int]
    by_relation_type: dict[str, int]
    average_mentions: float


@dataclass(frozen=True)
class Ranked:
    """An entity and what it is ranked by."""

    entity: StoredEntity
    score: float


@dataclass(frozen=True)
class EntityFilter:
    """A page of the list by mentions (most first), then id; `after` is the (mentions, id) of the page before's last."""

    prefix: str | None = None
    entity_type: str | None = None
    after: tuple[int, str] | None = None
    limit: int = 50
    min_mentions: int = 1


Direction = Literal["out", "in"]
Measure = Literal["mentions", "documents", "degree"]


class GraphStore(Protocol):
    """Everything is about one workspace, bounded, and empty rather than an error for what is unknown.

    Raises `StoreUnavailable` when the store does not answer.
    """

    name: str

    async def entities(self, workspace_id: UUID, ids: Sequence[str]) -> list[StoredEntity]:
        """Returns those of the entities that exist, by id."""
        ...

    async def list_entities(self, workspace_id: UUID, wanted: EntityFilter) -> list[StoredEntity]: ...

    async def relations_of(self, workspace_id: UUID, entity_id: str, limit: int) -> list[StoredRelation]:
        """Returns relations in both directions, strongest first, then by source, target and type."""
        ...

    async def find(self, workspace_id: UUID, name: str, limit: int) -> list[Match]:
        """Finds entities by name, best first: the entity of that name, those that are also called so (most used first),
        those whose name begins so (most mentioned first); only if there is none, those with a similar name.
        """
        ...

    async def neighbours(
        self,
        workspace_id: UUID,
        ids: Sequence[str],
        fan_out: int,
        min_mentions: int = 1,
        min_weight: float = 0.0,
        relation_types: Sequence[str] | None = None,
    ) -> list[Neighbour]:
        """Returns at most `fan_out` per entity, from its `fan_out` strongest relations (of these types) in each
        direction; of those, the ones that are mentioned and weigh enough.
        """
        ...

    async def reach(self, workspace_id: UUID, seeds: Sequence[str], hops: int, bounds: Bounds) -> list[Reached]:
        """Returns the seeds (hop 0) and what is reached from them, nearest first, then by weight (strongest first) and
        id. A seed is included however seldom it is mentioned.
        """
        ...

    async def subgraph(
        self, workspace_id: UUID, ids: Sequence[str] | None, hops: int, bounds: SubgraphBounds
    ) -> StoredSubgraph:
        """Returns the graph around the entities, nearest first; for None the entities with the most relations, and what
        links them.
        """
        ...

    async def shortest_paths(
        self,
        workspace_id: UUID,
        source: str,
        target: str,
        max_length: int,
        limit: int,
        relation_types: Sequence[str] | None = None,
    ) -> list[GraphPath]:
        """Returns at most `limit` shortest paths in either direction of the relations, by the ids on the way, up to
        length 6; none if the search would have to look at too many entities.
        """
        ...

    async def closure(
        self,
        workspace_id: UUID,
        entity_id: str,
        direction: Direction,
        relation_types: Sequence[str],
        depth: int,
        limit: int,
    ) -> list[Dependent]:
        """Returns what the entity depends on (`out`) or what depends on it (`in`) over relations of these types,
        directly or not, nearest first, then by id, without the entity itself. Depths up to 10.
        """
        ...

    async def cycles(
        self, workspace_id: UUID, entity_id: str, relation_types: Sequence[str], limit: int
    ) -> list[list[str]]:
        """Returns the shortest cycles through the entity, at most 10 long, one for each entity that it leads to first,
        by length and then ids; each begins with the entity and does not repeat it.
        """
        ...

    async def chunks_of(self, workspace_id: UUID, ids: Sequence[str], limit: int) -> list[MentioningChunk]:
        """Returns at most `limit` chunks per entity, those that mention it most often first, then by chunk id."""
        ...

    async def statistics(self, workspace_id: UUID) -> Statistics: ...

    async def counts(self, workspace_id: UUID) -> GraphCounts: ...

    async def top(self, workspace_id: UUID, by: Measure, entity_type: str | None, limit: int) -> list[Ranked]:
        """Returns outgoing and incoming relations of the entities that exist."""
        ...

    async def degrees(self, workspace_id: UUID, ids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Returns outgoing and incoming relations of the entities that exist."""
        ...

    async def centrality(self, workspace_id: UUID, limit: int) -> list[Ranked]:
        """Ranks by degree centrality: the share of the workspace's relations that an entity takes part in."""
        ...
