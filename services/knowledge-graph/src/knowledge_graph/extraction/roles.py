"""Derives types from what is said about names: what services call is a service, who owns one is a team."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

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


def typed_by_roles(mentions: Sequence[Mention], relations: Iterable[RelationEvidence]) -> list[Mention]:
    """Returns the mentions; those of open types get the type that most statements imply."""
    types: dict[str, str] = {}
    for one in mentions:
        if types.get(one.entity_id) not in EVIDENT:
            types[one.entity_id] = one.entity_type
    surfaces = {one.entity_id: one.surface for one in mentions}
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for relation in relations:
        for entity_id, told in _told(relation, types, surfaces):
            votes[entity_id][told] += 1
    found = {key: max(sorted(counted), key=lambda one: counted[one]) for key, counted in votes.items()}
    return [replace(one, entity_type=found.get(one.entity_id, one.entity_type)) for one in mentions]


def _told(
    relation: RelationEvidence, types: Mapping[str, str], surfaces: Mapping[str, str]
) -> Iterable[tuple[str, str]]:
    source, target = types.get(relation.source_id), types.get(relation.target_id)
    if source is None or target is None:
        return
    if relation.relation_type == "OWNS" and target in BUILT | {"STORE"}:
        # A name of two words may be a person.
        if source in OPEN_TYPES and " " not in surfaces[relation.source_id]:
            yield relation.source_id, "TEAM"
    elif is_dependency(relation.relation_type):
        is_kept = relation.relation_type == "WRITES" and relation.phrase.split(" ")[0].rstrip("s") in KEPT
        is_open = target in OPEN_TYPES or (target == "ORG" and relation.relation_type == "CALLS")
        if source in BUILT and is_open and (relation.relation_type in NEEDED or is_kept):
            is_store = is_kept or kind_of_store(surfaces[relation.target_id]) is not None
            yield relation.target_id, "STORE" if is_store else "SERVICE"
        elif relation.relation_type != "DEPENDS_ON" and source in OPEN_TYPES and target in {"SERVICE", "STORE"}:
            yield relation.source_id, "SERVICE"
