"""Pairs the entities of a chunk: weak evidence that they are related."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations

from knowledge_graph.extraction.records import Mention

MOST_ENTITIES = 12
"""The foremost entities of a chunk are all linked with each other: 66 pairs, where a list of 60 names would yield
1,770."""
MOST_OF_SENTENCE = 12
MOST_LINKED_TO_SUBJECT = 40
MOST_PAIRS = 160
SAME_SENTENCE, SAME_CHUNK = 0.5, 0.3

Pair = tuple[str, str]


def pairs(mentions: Sequence[Mention]) -> list[tuple[str, str, float]]:
    """Returns pairs of entity ids, the smaller id first, with the confidence; at most 160.

    In this order: pairs that share a sentence, the chunk's main entity with each other entity, then the highest-ranked
    entities with each other.
    """
    # Other names from the opening definition occur beside the full name, so they would add the same pairs.
    mentions = [one for one in mentions if one.end or one.about != "definition"]
    ranked = _ranked(mentions)
    found: dict[Pair, float] = {}
    for together in _sentences(mentions):
        chosen = [entity for entity in ranked if entity in together][:MOST_OF_SENTENCE]
        found |= dict.fromkeys(_all_pairs(chosen), SAME_SENTENCE)
    subject = next(iter(ranked), "")
    near = [tuple(sorted((subject, other))) for other in ranked[1:MOST_LINKED_TO_SUBJECT]]
    for pair in [*near, *_all_pairs(ranked[:MOST_ENTITIES])]:
        found.setdefault((pair[0], pair[1]), SAME_CHUNK)
    return sorted((*pair, confidence) for pair, confidence in list(found.items())[:MOST_PAIRS])


def _ranked(mentions: Sequence[Mention]) -> list[str]:
    """Ranks what the chunk is about (in its text, then in titles), then by number of mentions, then the first."""
    count = Counter(mention.entity_id for mention in mentions)
    about = {mention.entity_id for mention in mentions if mention.about}
    named = {mention.entity_id for mention in mentions if mention.end}
    first: dict[str, int] = {}
    for mention in mentions:
        first[mention.entity_id] = min(first.get(mention.entity_id, mention.start), mention.start)
    return sorted(count, key=lambda one: (one not in about & named, one not in about, -count[one], first[one], one))


def _sentences(mentions: Sequence[Mention]) -> list[set[str]]:
    together: dict[tuple[int, int], set[str]] = defaultdict(set)
    for mention in mentions:
        if mention.sentence_end:
            together[mention.sentence_start, mention.sentence_end].add(mention.entity_id)
    return [together[place] for place in sorted(together)]


def _all_pairs(entities: Sequence[str]) -> list[Pair]:
    return list(combinations(sorted(entities), 2))
