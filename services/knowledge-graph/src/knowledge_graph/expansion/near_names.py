"""Links names that no document spells in this way: misspelled or incomplete. Without IO."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from knowledge_graph.expansion.linking import Linked, Meaning, NameRun
from knowledge_graph.extraction.names import STOP_WORDS, WORD
from knowledge_graph.graph_store import StoredEntity

SHORTEST_KEY = 5
MOST_RUNS = 4
MOST_NEAR = 3
NEAR_ENOUGH = 0.5
IN_PART = 0.8
"""Similarity of a name that contains all words of the run."""
SHARE = 0.8
"""Probability that one of the nearest names is meant."""


@dataclass(frozen=True)
class Near(StoredEntity):
    """An entity whose name resembles `key`; `similarity` (0 to 1) is the trigram similarity."""

    key: str
    similarity: float


def unlinked(text: str, found: Iterable[NameRun], linked: Iterable[Linked]) -> list[NameRun]:
    """Returns the runs that are written as names but are not known, longest first."""
    names = list(linked)
    free = [
        one
        for one in found
        if one.has_capitals
        and len(one.key) >= SHORTEST_KEY
        and _is_bounded(text[one.start : one.end])
        and not any(name.start < one.end and one.start < name.end for name in names)
    ]
    return list({one.key: one for one in free}.values())[:MOST_RUNS]


def nearest(text: str, runs: Iterable[NameRun], near: Mapping[str, Sequence[Near]]) -> list[Linked]:
    """Links the runs to the nearest names (`near`, by key); of overlapping runs the longest wins."""
    chosen: list[Linked] = []
    for one in runs:
        if any(name.start < one.end and one.start < name.end for name in chosen):
            continue
        words = _words(text[one.start : one.end])
        rated = [(IN_PART if words <= _words(each.name) else each.similarity, each) for each in near.get(one.key, ())]
        best = max((rating for rating, _ in rated), default=0.0)
        if best >= NEAR_ENOUGH:
            alike = [each for rating, each in rated if rating == best][:MOST_NEAR]
            meanings = tuple(Meaning(each, SHARE / len(alike)) for each in alike)
            chosen.append(Linked(one.start, one.end, meanings, has_capitals=True))
    return chosen


def _is_bounded(surface: str) -> bool:
    """Returns whether the first and the last word look like those of a name."""
    words = WORD.findall(surface)
    return all(
        (word[0].isupper() or word[0].isdigit()) and word.casefold() not in STOP_WORDS for word in (words[0], words[-1])
    )


def _words(name: str) -> frozenset[str]:
    return frozenset(WORD.findall(name.casefold()))
