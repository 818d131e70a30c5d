"""Indexes the names of one document by their words, to find what a short form can stand for."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from knowledge_graph.extraction.names import ARTICLES, PARTICLES, WORD
from knowledge_graph.extraction.short_forms import Named, stands_for

UNTYPED = frozenset({"ENTITY", "DOCUMENT", "CONCEPT"})
EVIDENT = frozenset({"SERVICE", "STORE", "PROJECT", "LIBRARY", "TEAM", "TABLE", "DOCUMENT_ID", "PLACE"})
"""Types that rest on evidence, not on how a name looks."""
FULL_NAME = re.compile(r"[A-ZÄÖÜ][\w’'-]{1,30}+(?: [A-ZÄÖÜ][\w.’'-]{0,30}+){1,3}")
BEINGS = frozenset({"PERSON", "NORP"})
SHORTEST_ACRONYM = 3
SMALL_WORDS = PARTICLES | {"of", "for", "and", "the", "in", "on", "to"}


@dataclass
class Uses:
    """How a document writes a name."""

    words: tuple[str, ...]
    types: Counter[str] = field(default_factory=Counter)

    @property
    def entity_type(self) -> str:
        return max(self.types, key=lambda one: (one in EVIDENT, one not in UNTYPED, self.types[one], one))


def _size(parts: tuple[str, ...]) -> tuple[int, int]:
    return len(parts), sum(map(len, parts))


class FullNames:
    """The document's names by their words, to look up what a short form stands for."""

    def __init__(self, uses: Mapping[str, Uses], stated: Mapping[str, str]) -> None:
        self.uses, self.stated = uses, stated
        self.by_word: dict[str, set[str]] = defaultdict(set)
        self.by_initials: dict[str, set[str]] = defaultdict(set)
        self.ties: dict[str, list[str]] = {}
        """Short names passed to `only` that fit several names, with these names."""
        for key, use in uses.items():
            for word in use.words:
                self.by_word[word].add(key)
            if use.entity_type not in {"PERSON", "CONCEPT"} and len(use.words) > 1:
                initials = [word[0] for word in use.words if word not in SMALL_WORDS]
                self.by_initials["".join(initials)].add(key)

    def only(self, short: Named, key: str) -> str | None:
        """Returns the only name that it can stand for; of several, the longest if the others can stand for that."""
        standing = [one for one in self._sharing(short) if one != key and self._stands(short, self._named(one))]
        found = sorted({self.stated.get(one, one) for one in standing}.intersection(self.uses) or standing)
        if len(found) < 2:
            return found[0] if found else None
        longest = max(found, key=lambda one: (len(self.uses[one].words), one))
        whole = self._named(longest)
        rest = [one for one in found if one != longest]
        if all(self._stands(self._named(one), whole) for one in rest):
            return longest
        self.ties[key] = found
        return None

    def spelled_out(self, key: str) -> str | None:
        """Returns the only name of several words with these initials (OPIC)."""
        found = self.by_initials.get(key, set())
        return next(iter(found)) if len(found) == 1 and len(key) >= SHORTEST_ACRONYM else None

    def _sharing(self, short: Named) -> list[str]:
        ends = {short.words[0], short.words[-1]} if short.words else set()
        return sorted({key for word in ends for key in self.by_word.get(word, ())})

    def _named(self, key: str) -> Named:
        return Named(self.uses[key].words, self.uses[key].entity_type)

    @staticmethod
    def _stands(short: Named, full: Named) -> bool:
        return _size(full.words) > _size(short.words) and stands_for(short, full)


def folded(surface: str) -> tuple[str, ...]:
    """Returns the words of the name without case, accents and article."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", surface) if not unicodedata.combining(char))
    parts = WORD.findall(plain.casefold())
    return tuple(parts[1:] if len(parts) > 1 and parts[0] in ARTICLES else parts)
