"""The closed hierarchy of relation types, and the types that verbs state between parts of systems."""

from __future__ import annotations

from collections.abc import Iterable

from knowledge_graph.extraction.word_lists import equations

ABOVE = {below: above for kinds, above in equations("relation_types") for below in kinds}
VERBS = {verb: relation_type for verbs, relation_type in equations("relation_verbs", ",") for verb in verbs}
"""Relation types by the verb as clauses name it: lemma and preposition, in upper snake case."""
DEPENDS_ON = "DEPENDS_ON"


def with_below(relation_types: Iterable[str]) -> list[str]:
    """Returns the types and all their subtypes: calling something is also depending on it."""
    types = list(dict.fromkeys(relation_types))
    return types + [below for below in ABOVE if below not in types and set(_above(below)).intersection(types)]


def is_dependency(relation_type: str) -> bool:
    return relation_type == DEPENDS_ON or DEPENDS_ON in _above(relation_type)


def family(relation_type: str) -> str:
    """Returns the topmost supertype: denying that A uses B speaks about all types below it."""
    return [relation_type, *_above(relation_type)][-1]


def is_structural(relation_type: str) -> bool:
    """Returns whether the type says how things are built and owned, which changes over time."""
    return relation_type in STRUCTURAL


def _above(relation_type: str) -> list[str]:
    found = []
    while relation_type in ABOVE and ABOVE[relation_type] not in found:
        relation_type = ABOVE[relation_type]
        found.append(relation_type)
    return found


DEPENDENCIES = frozenset(with_below([DEPENDS_ON]))
BELONGS_TO = "BELONGS_TO"
"""Belongs to a team or to a whole; other documents say which."""
STRUCTURAL = DEPENDENCIES | {"OWNS", "PART_OF", "MAINTAINS", BELONGS_TO}
