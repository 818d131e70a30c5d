"""Entities of the same chunk: weak evidence that they have to do with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from knowledge_graph.extraction.records import Mention

MOST_ENTITIES = 12
"""A chunk links at most this many entities with each other (66 pairs), so that a list of 60 names does not explode."""


def pairs(mentions: Sequence[Mention]) -> list[tuple[str, str]]:
    """Entity ids, the smaller first. Where there are too many: what the chunk is about, then the most often mentioned,
    then the first."""
    count = Counter(mention.entity_id for mention in mentions)
    about = {mention.entity_id for mention in mentions if mention.about}
    first: dict[str, int] = {}
    for mention in mentions:
        first[mention.entity_id] = min(first.get(mention.entity_id, mention.start), mention.start)
    ranked = sorted(count, key=lambda entity: (entity not in about, -count[entity], first[entity], entity))
    return sorted(combinations(sorted(ranked[:MOST_ENTITIES]), 2))
