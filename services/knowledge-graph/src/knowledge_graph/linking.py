"""Names that a text may hold, as keys to look up: every run of up to six words. Stateless, so never out of date."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from knowledge_graph.extraction.names import STOP_WORDS, WORD, entity_id, name_key

MOST_WORDS = 6
LONGEST_QUERY_WORDS = 400


@dataclass(frozen=True)
class Candidate:
    """Words `first` to `last` (exclusive) of the text could be the entity's name."""

    first: int
    last: int
    entity_id: str


def candidates(text: str) -> list[Candidate]:
    """Of the text's first 400 words, longest runs first."""
    words = list(WORD.finditer(text))[:LONGEST_QUERY_WORDS]
    found: list[Candidate] = []
    for size in range(min(MOST_WORDS, len(words)), 0, -1):
        for first in range(len(words) - size + 1):
            surface = text[words[first].start() : words[first + size - 1].end()]
            key = name_key(surface)
            if len(key) >= 2 and key not in STOP_WORDS:
                found.append(Candidate(first, first + size, entity_id(key)))
    return found


def longest_known(found: list[Candidate], known: Container[str]) -> list[str]:
    """The entity ids of the known names, longest match first; a name inside a longer one does not count."""
    taken: set[int] = set()
    chosen: list[str] = []
    for one in found:
        place = range(one.first, one.last)
        if one.entity_id in known and taken.isdisjoint(place):
            taken.update(place)
            if one.entity_id not in chosen:
                chosen.append(one.entity_id)
    return chosen
