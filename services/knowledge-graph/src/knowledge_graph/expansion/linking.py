"""Finds known names in a text: every run of up to twelve words is looked up. Stateless, so never out of date."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from knowledge_graph.extraction.names import STOP_WORDS, WORD, entity_id, name_key
from knowledge_graph.graph_store import StoredEntity

MOST_WORDS = 12
LONGEST_QUERY_WORDS = 400
SHORTEST_PLURAL = 5
POSSESSIVE = re.compile(r"['’]s\b|(?<=s)['’](?!\w)")
QUESTION_MARKS = "?\uff1f\u061f\u00bf\u055e"
QUESTION_WORD = re.compile(r"\b(?:who|whom|whose|what|which|when|where|why|how)\b", re.IGNORECASE)
# Types whose names count even in lower case.
WRITTEN_SMALL = frozenset({"IDENTIFIER", "SERVICE"})


class NameRun(NamedTuple):
    """A possible name: words `first` to `last` (exclusive) of the text, characters `start` to `end`, with the lookup
    `key`.

    `is_written_as_name`: some word begins with a capital or a digit, or is an identifier. `has_capitals`: a word other
    than the first of the text has a capital. `is_long`: it has enough words to be a name even in small letters.
    """

    first: int
    last: int
    start: int
    end: int
    key: str
    is_written_as_name: bool
    is_long: bool
    has_capitals: bool

    @property
    def entity_id(self) -> str:
        return entity_id(self.key)


@dataclass(frozen=True)
class Meaning:
    """An entity that a name may stand for; `share` (0 to 1) is its share of the name's uses in the workspace."""

    entity: StoredEntity
    share: float


@dataclass(frozen=True)
class Linked:
    """A known name in the text. `has_capitals`: a word other than the first of the text has a capital."""

    start: int
    end: int
    meanings: tuple[Meaning, ...]
    has_capitals: bool = False

    @property
    def is_concept(self) -> bool:
        """Returns whether this is a term ("wind tunnel") and not the name of one thing.

        Documents may define as a term ("Damerjog is a village") what the text writes as a name; then it is a name.
        """
        if self.has_capitals and any(one.entity.name[:1].isupper() for one in self.meanings):
            return False
        return all(one.entity.entity_type == "CONCEPT" for one in self.meanings)


def candidates(text: str) -> list[NameRun]:
    """Returns the runs among the text's first 400 words, longest first; a run as written precedes its singular."""
    places = list(WORD.finditer(text))[:LONGEST_QUERY_WORDS]
    words = [place.group() for place in places]
    # How many words before each one are such: whether a run has any is then a subtraction.
    content = [word.casefold() not in STOP_WORDS for word in words]
    long = _counts(is_content and len(word) > 1 for is_content, word in zip(content, words, strict=True))
    capital = _counts(word[0].isupper() for word in words)
    named = _counts(
        is_content and (word[0].isupper() or word[0].isdigit()) for is_content, word in zip(content, words, strict=True)
    )
    upper = _counts(not word.islower() and any(map(str.isupper, word)) for word in words)
    found: list[NameRun] = []
    for size in range(min(MOST_WORDS, len(words)), 0, -1):
        for first in range(len(words) - size + 1):
            last = first + size
            start, end = places[first].start(), places[last - 1].end()
            if words[last - 1] == "s" and text[end - 2 : end - 1] in ("'", "’"):
                continue  # the "s" of a possessive is not a word
            surface = text[start:end]
            is_written_as_name = (
                named[last] > named[first]
                or upper[last] > upper[first + 1]
                or "_" in surface
                or any(map(str.isupper, words[first][1:]))
            )
            is_long = long[last] - long[first] > 1
            has_capitals = capital[last] > capital[max(first, 1)]
            found += [
                NameRun(first, last, start, end, key, is_written_as_name, is_long, has_capitals)
                for key in _keys(surface)
            ]
    return found


def longest_known(found: Iterable[NameRun], known: Mapping[str, Sequence[Meaning]]) -> list[Linked]:
    """Returns the longest known names; names inside a longer one do not count. `known` is by key."""
    taken: set[int] = set()
    chosen: list[Linked] = []
    for one in found:
        place = range(one.first, one.last)
        if not taken.isdisjoint(place):
            continue
        meanings = tuple(meaning for meaning in known.get(one.key, ()) if _names(one, meaning.entity.entity_type))
        if meanings:
            taken.update(place)
            chosen.append(Linked(one.start, one.end, meanings, one.has_capitals))
    return chosen


def _names(run: NameRun, entity_type: str) -> bool:
    """Returns whether the run may name such an entity: "read a csv file" does not ask about `csv_file`."""
    if run.is_written_as_name:
        return True
    if entity_type == "IDENTIFIER" and run.last - run.first > 1:
        return False
    return run.is_long or entity_type in WRITTEN_SMALL


def without_names(text: str, names: Iterable[Linked]) -> str:
    """Returns the text without the names and their possessive endings: what the text asks about them."""
    for name in sorted(names, key=lambda one: -one.start):
        ending = POSSESSIVE.match(text, name.end)
        text = f"{text[: name.start]} {text[ending.end() if ending else name.end :]}"
    return " ".join(text.split())


def asks(text: str) -> bool:
    """Returns whether the text is a question: by a question mark in any script, or an English question word."""
    return any(mark in text for mark in QUESTION_MARKS) or QUESTION_WORD.search(text) is not None


def _keys(surface: str) -> list[str]:
    key = name_key(surface)
    if len(key) < 2 or key in STOP_WORDS or key.isdigit():
        return []
    # "the Beatles' films", "hurricanes": plurals that the key does not normalise.
    plural = len(key) >= SHORTEST_PLURAL and key.endswith("s") and not key.endswith("ss")
    return [key, key[:-1]] if plural else [key]


def _counts(flags: Iterable[bool]) -> list[int]:
    return list(accumulate(flags, initial=0))
