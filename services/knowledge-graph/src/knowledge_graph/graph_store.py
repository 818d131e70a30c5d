"""The read interface of the graph. All stores give the same answers: one suite runs against each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol
from uuid import UUID

from contracts.knowledge_graph import Entity, Relation


@dataclass(frozen=True)
class StoredEntity:
    """`mentions` and `documents` are counts in the workspace; `aliases` are the other spellings, most used first."""

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

    def to_contract(self, names: Mapping[str, str]) -> Relation:
        """Returns it with the names of its ends; an id stands for one that `names` does not have."""
        return Relation(
            source=self.source_id,
            source_name=names.get(self.source_id, self.source_id),
            target=self.target_id,
            target_name=names.get(self.target_id, self.target_id),
            relation_type=self.relation_type,
            weight=self.weight,
            evidence=self.evidence,
        )


@dataclass(frozen=True)
class Neighbour:
    """An entity `id` linked with `origin`, in either direction; `weight` is the weight of their strongest relation."""

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
    """An entity found by name. `how` it matched: its own `name_key`, another of its names, a prefix, or a similar name;
    `similarity` is the trigram similarity if `how` is `fuzzy`, else 1."""

    entity: StoredEntity
    how: Literal["exact", "alias", "prefix", "fuzzy"]
    similarity: float


@dataclass(frozen=True)
class StoredEvidence:
    """A place that states a relation: characters `start` to `end` of the chunk's content (0 to 0: the whole chunk)."""

    document_id: UUID
    chunk_id: str
    start: int
    end: int
    confidence: float
    method: str
    phrase: str


@dataclass(frozen=True)
class StoredStatement(StoredEvidence):
    """What was, is planned or is denied: `status` is past, planned or negated; `dated` is as precise as the text."""

    source_id: str
    target_id: str
    relation_type: str
    status: str
    dated: str | None


@dataclass(frozen=True)
class Bounds:
    """Limits of a search: `fan_out` neighbours per entity, at most `widest` entities to go on from at each hop, and no
    entity with fewer than `min_mentions` mentions."""

    fan_out: int = 20
    widest: int = 200
    min_mentions: int = 1


@dataclass(frozen=True)
class Reached:
    """An entity at the `hop` at which it was first reached; `path` holds the names from the seed to it, `weight` is the
    weight of the weakest relation on the way (0 for a seed)."""

    id: str
    name: str
    mentions: int
    hop: int
    path: tuple[str, ...]
    weight: float


@dataclass(frozen=True)
class SubgraphBounds:
    """What a subgraph may contain; `relation_types` None means all types."""

    max_nodes: int = 100
    max_edges: int = 300
    min_mentions: int = 1
    relation_types: tuple[str, ...] | None = None


@dataclass(frozen=True)
class StoredSubgraph:
    """Nodes and the relations among them, strongest first."""

    nodes: list[StoredEntity]
    relations: list[StoredRelation]


@dataclass(frozen=True)
class GraphPath:
    """A path: `entities` from the source to the target; `relations[n]` is the strongest between `entities[n]` and the
    next, in either direction."""

    entities: list[str]
    relations: list[StoredRelation]


@dataclass(frozen=True)
class Dependent:
    """An entity reached over `depth` relations, the last one from the entity `via`."""

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
    """An entity and the value that it is ranked by."""

    entity: StoredEntity
    score: float


@dataclass(frozen=True)
class EntityFilter:
    """A page by mentions (most first), then id; `after` is the (mentions, id) of the previous page's last entity."""

    prefix: str | None = None
    entity_type: str | None = None
    after: tuple[int, str] | None = None
    limit: int = 50
    min_mentions: int = 1


Direction = Literal["out", "in"]
Measure = Literal["mentions", "documents", "degree"]


class GraphStore(Protocol):
    """Reads from the graph of one workspace. Every read is bounded and returns nothing for unknown ids.

    Raises `StoreUnavailable` when the store does not respond.
    """

    name: str

    async def entities(self, workspace_id: UUID, ids: Sequence[str]) -> list[StoredEntity]:
        """Returns the entities that exist among these ids, by id."""
        ...

    async def list_entities(self, workspace_id: UUID, wanted: EntityFilter) -> list[StoredEntity]: ...

    async def relations_of(self, workspace_id: UUID, entity_id: str, limit: int) -> list[StoredRelation]:
        """Returns relations in both directions, strongest first, then by source, target and type."""
        ...

    async def find(self, workspace_id: UUID, name: str, limit: int) -> list[Match]:
        """Finds entities by name, best first: the entity of that name, other entities with that name among their names
        (most used first), entities whose name begins with it (most mentioned first); similar names only if there are
        none of these.
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
        """Returns at most `fan_out` neighbours per entity, taken from its `fan_out` strongest relations (of these
        types) in each direction and then filtered by mentions and weight.
        """
        ...

    async def reach(self, workspace_id: UUID, seeds: Sequence[str], hops: int, bounds: Bounds) -> list[Reached]:
        """Returns the seeds (hop 0) and the entities reached from them, nearest first, then by weight (strongest first)
        and id. Seeds are included regardless of their number of mentions.
        """
        ...

    async def subgraph(
        self, workspace_id: UUID, ids: Sequence[str] | None, hops: int, bounds: SubgraphBounds
    ) -> StoredSubgraph:
        """Returns the graph around the entities, nearest first; for None, the entities with the most relations and the
        relations among them.
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
        """Returns at most `limit` shortest paths of up to 6 relations, in either direction, ordered by the ids on the
        way; none if the search would have to visit too many entities.
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
        """Returns what the entity depends on (`out`) or what depends on it (`in`), directly or indirectly, over
        relations of these types: nearest first, then by id, without the entity itself. `depth` is at most 10.
        """
        ...

    async def cycles(
        self, workspace_id: UUID, entity_id: str, relation_types: Sequence[str], limit: int
    ) -> list[list[str]]:
        """Returns the shortest cycles through the entity, at most 10 long, one for each entity it directly leads to, by
        length and then ids; each begins with the entity and does not repeat it.
        """
        ...

    async def chunks_of(self, workspace_id: UUID, ids: Sequence[str], limit: int) -> list[MentioningChunk]:
        """Returns at most `limit` chunks per entity, those that mention it most often first, then by chunk id."""
        ...

    async def statistics(self, workspace_id: UUID) -> Statistics: ...

    async def counts(self, workspace_id: UUID) -> GraphCounts: ...

    async def top(self, workspace_id: UUID, by: Measure, entity_type: str | None, limit: int) -> list[Ranked]:
        """Returns the entities (of one type, or of all) that rank highest by this measure."""
        ...

    async def degrees(self, workspace_id: UUID, ids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Returns the numbers of outgoing and incoming relations of the entities that exist."""
        ...

    async def centrality(self, workspace_id: UUID, limit: int) -> list[Ranked]:
        """Ranks by degree centrality: the share of the workspace's relations that an entity takes part in."""
        ...
