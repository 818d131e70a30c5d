"""Derives types from what is said about names: what services call is a service, who owns one is a team."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from knowledge_graph.extraction.full_names import EVIDENT
from knowledge_graph.extraction.manifests.statement import kind_of_store
from knowledge_graph.extraction.records import Mention, RelationEvidence
from knowledge_graph.extraction.relation_types import is_dependency

NEEDED = frozenset({"CALLS", "USES", "READS", "DEPENDS_ON"})
BUILT = frozenset({"SERVICE", "PROJECT"})
KEPT = ("store", "keep", "save", "archive", "persist", "cache", "hold")
"""Verbs of keeping: what something is kept in is a store."""
OPEN_TYPES = frozenset({"ENTITY", "IDENTIFIER", "GPE", "NORP", "PRODUCT", "WORK_OF_ART", "EVENT", "LAW", "FAC", "LOC"})
"""Types guessed from how a name looks; statements about the name outweigh them."""


@dataclass(frozen=True)
class End:
    """A name at one end of a relation, with its type so far."""

    name: str
    entity_type: str


def typed_by_roles(mentions: Sequence[Mention], relations: Iterable[RelationEvidence]) -> list[Mention]:
    """Returns the mentions; those of open types get the type that most statements imply."""
    types: dict[str, str] = {}
    for one in mentions:
        if types.get(one.entity_id) not in EVIDENT:
            types[one.entity_id] = one.entity_type
    surfaces = {one.entity_id: one.surface for one in mentions}
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for relation in relations:
        ends = relation.source_id, relation.target_id
        if types.keys() >= set(ends):
            source, target = (End(surfaces[end], types[end]) for end in ends)
            is_source, implied = type_by(relation.relation_type, relation.phrase, source, target)
            votes[ends[0] if is_source else ends[1]].update([implied] if implied else ())
    found = {key: most(counted) for key, counted in votes.items() if counted}
    return [replace(one, entity_type=found.get(one.entity_id, one.entity_type)) for one in mentions]


def most(votes: Mapping[str, int]) -> str:
    """Returns the type with the most votes; of several, the first by name."""
    return min(votes, key=lambda one: (-votes[one], one))


def type_by(relation_type: str, phrase: str, source: End, target: End) -> tuple[bool, str | None]:
    """Returns whether a relation tells the type of its source rather than its target, and the type, if any."""
    if relation_type == "OWNS":
        # A name of two words may be a person.
        is_team = (
            target.entity_type in BUILT | {"STORE"} and source.entity_type in OPEN_TYPES and " " not in source.name
        )
        return True, "TEAM" if is_team else None
    if is_dependency(relation_type):
        is_kept = relation_type == "WRITES" and phrase.split(" ")[0].rstrip("s") in KEPT
        # Nobody depends on a person; the language model takes many names of products for surnames.
        is_open = target.entity_type in OPEN_TYPES | {"ORG"} or (
            target.entity_type == "PERSON" and " " not in target.name
        )
        if source.entity_type in BUILT and is_open and (relation_type in NEEDED or is_kept):
            return False, "STORE" if is_kept or kind_of_store(target.name) is not None else "SERVICE"
        is_service = source.entity_type in OPEN_TYPES and target.entity_type in {"SERVICE", "STORE"}
        return True, "SERVICE" if is_service and relation_type != "DEPENDS_ON" else None
    return True, None
