"""What replacing documents changed: the differences that the sums and the projection apply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from knowledge_graph.extraction.relation_types import is_structural

Pair = tuple[str, str]


@dataclass(frozen=True)
class Use:
    """`uses` mentions of an entity in one spelling and type, and in how many documents one of them states the type."""

    entity_id: str
    surface: str
    entity_type: str
    surface_key: str
    uses: int
    stated: int = 0


@dataclass(frozen=True)
class SummedEvidence:
    source_id: str
    target_id: str
    relation_type: str
    weight: float
    evidence: int
    counts: bool = True
    """Whether it is current; evidence that is not is kept, but left out of the sums."""

    @property
    def pair(self) -> Pair:
        return self.source_id, self.target_id


@dataclass
class Changes:
    """Changes by replacing or deleting documents: the differences in `uses` and evidence. Where rows of other documents
    had to change, sums are not adjusted but recomputed: `recounted` entities and `resummed` pairs; `mentioned` are the
    (entity, document) whose mentions changed there. Closings are derived from the `stated` pairs and the documents with
    the `superseding` numbers.
    """

    document_ids: Sequence[UUID]
    uses: dict[tuple[str, str, str], tuple[str, int, int]] = field(default_factory=dict)
    entities_before: Counter[str] = field(default_factory=Counter)
    mentioned_after: set[tuple[str, UUID]] = field(default_factory=set)
    evidence: dict[tuple[str, str, str], tuple[float, int]] = field(default_factory=dict)
    recounted: set[str] = field(default_factory=set)
    resummed: set[Pair] = field(default_factory=set)
    mentioned: set[tuple[str, UUID]] = field(default_factory=set)
    stated: set[Pair] = field(default_factory=set)
    superseding: set[str] = field(default_factory=set)
    removed_entities: int = 0
    removed_relations: int = 0

    def use(self, one: Use, sign: int = 1) -> None:
        key = one.entity_id, one.surface, one.entity_type
        _, uses, stated = self.uses.get(key, ("", 0, 0))
        self.uses[key] = one.surface_key, uses + sign * one.uses, stated + sign * one.stated

    def state(self, one: SummedEvidence, sign: int = 1) -> None:
        if is_structural(one.relation_type):
            self.stated.add(one.pair)
        if one.source_id != one.target_id and one.counts:
            key = one.source_id, one.target_id, one.relation_type
            weight, evidence = self.evidence.get(key, (0.0, 0))
            self.evidence[key] = weight + sign * one.weight, evidence + sign * one.evidence

    def documents(self, entity_ids: Iterable[str]) -> list[int]:
        """Returns how many more documents mention each of the entities than before."""
        after = Counter(entity for entity, _ in self.mentioned_after)
        return [after[one] - self.entities_before[one] for one in entity_ids]

    @property
    def entities(self) -> set[str]:
        return {key[0] for key, (_, *change) in self.uses.items() if any(change)} | self.recounted

    @property
    def pairs(self) -> set[Pair]:
        return {key[:2] for key, change in self.evidence.items() if any(change)} | self.resummed
