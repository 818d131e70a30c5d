"""Names of one document that are spelled nearly alike: "Centre for Disease Control", "Center for Disease Control".

All words but one are the same, and that one differs by a letter or two; the sentence encoder must find the names alike,
too, and no sentence may hold both, as that tells two things apart. Names of people stay as they are: one letter is
often another person.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from rapidfuzz.distance import OSA

from knowledge_graph.extraction.alias_statements import SPELLINGS
from knowledge_graph.extraction.chunk_analysis import Part
from knowledge_graph.extraction.full_names import folded
from knowledge_graph.extraction.meaning import Meaning
from knowledge_graph.extraction.names import KINDS, name_key
from knowledge_graph.extraction.resolution import EXACT, PLACES, Resolution
from knowledge_graph.extraction.short_forms import REGNAL

SHORTEST_WORD, LONG_WORD = 4, 8
"""Letters; from the second on two may differ."""
LEAST_SIMILARITY = 0.9
"""Centre and Center: .95; Landgrave and Landgravine: .80."""
MOST_PAIRS = 20


@dataclass
class Written:
    """A name of the document."""

    surface: str
    words: tuple[str, ...]
    uses: int = 0
    sentences: set[tuple[str, int]] = field(default_factory=set)


def respelled(parts: Sequence[Part], resolution: Resolution, meaning: Meaning) -> Resolution:
    """The resolution with such names as one: the one that is used more, of equals the smaller key."""
    names = _names(parts, resolution)
    targets: dict[str, str] = {}
    for first, second in list(_pairs(names))[:MOST_PAIRS]:
        target, other = sorted((first, second), key=lambda key: (-names[key].uses, key))
        if other in targets or target in targets or other in targets.values():
            continue
        found = meaning.similarities(names[target].surface, [names[other].surface])
        if found and found[0] >= LEAST_SIMILARITY:
            targets[other] = target
    if not targets:
        return resolution
    moved = {key: targets.get(target, target) for key, target in resolution.targets.items()}
    ties = {key: sorted({targets.get(one, one) for one in several}) for key, several in resolution.open.items()}
    open_ = {key: several for key, several in ties.items() if key not in targets and len(several) > 1}
    return replace(resolution, targets={**moved, **targets}, open=open_)


def _names(parts: Sequence[Part], resolution: Resolution) -> dict[str, Written]:
    names: dict[str, Written] = {}
    for part in parts:
        for span in part.spans:
            key = resolution.key(span.surface)
            if resolution.entity_type(span.surface, span.entity_type) in EXACT | {"PERSON"}:
                continue
            if key == name_key(span.surface):
                names.setdefault(key, Written(span.surface, folded(span.surface)))
            if key in names:
                names[key].uses += 1
                names[key].sentences.add((part.passage.chunk_id, part.sentences.at(span.start)[0]))
    return names


def _pairs(names: Mapping[str, Written]) -> Iterator[tuple[str, str]]:
    """In the order of their keys."""
    alike: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for key, name in names.items():
        for place in range(len(name.words) if len(name.words) > 1 else 0):
            alike[*name.words[:place], "", *name.words[place + 1 :]].add(key)
    pairs = {
        pair
        for pattern, keys in alike.items()
        if len(keys) > 1
        for pair in combinations(sorted(keys), 2)
        if _differ_little(*(names[key].words[pattern.index("")] for key in pair))
        and not names[pair[0]].sentences & names[pair[1]].sentences
    }
    yield from sorted(pairs)


def _differ_little(first: str, second: str) -> bool:
    shortest = min(len(first), len(second))
    if SPELLINGS.get(first, first) == SPELLINGS.get(second, second):
        return True
    if {first, second} <= KINDS or {first, second} <= PLACES:  # "Southeast", "Southwest"; "Niger", "Nigeria"
        return False
    if shortest < SHORTEST_WORD or not (first + second).isalpha() or REGNAL.match(first) or REGNAL.match(second):
        return False
    most = 1 + (shortest >= LONG_WORD)
    return abs(len(first) - len(second)) <= most and OSA.distance(first, second) <= most
