"""Reads the model's answer as data: names and relations are checked against the chunk, or dropped. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from knowledge_graph.extraction.names import LONGEST_NAME, is_name, name_key
from knowledge_graph.extraction.sentences import Sentences
from knowledge_graph.refinement.asking import TYPES

MOST_NAMES, MOST_RELATIONS = 60, 80
LONGEST_ANSWER, MOST_OBJECTS = 100_000, 500
LONGEST_RELATION, MOST_RELATION_WORDS = 60, 6
WORDS = re.compile(r"[^\W_]+")
RESERVED = frozenset({"CO_OCCURS", "MENTIONED_IN"})


@dataclass(frozen=True)
class FoundRelation:
    """A relation between two names of the chunk; characters `start` to `end` are the sentence that states it."""

    source: str
    relation_type: str
    target: str
    start: int
    end: int


@dataclass(frozen=True)
class Findings:
    """`names` has the type of each name, as it stands in the chunk; `dropped` counts what failed the checks."""

    names: Mapping[str, str]
    relations: tuple[FoundRelation, ...]
    dropped: int = 0

    def stored(self) -> dict[str, Any]:
        """Returns the findings as JSON; `restored` reads it."""
        relations = [[one.source, one.relation_type, one.target, one.start, one.end] for one in self.relations]
        return {"names": dict(self.names), "relations": relations, "dropped": self.dropped}

    @classmethod
    def restored(cls, stored: Mapping[str, Any]) -> Self:
        return cls(stored["names"], tuple(FoundRelation(*one) for one in stored["relations"]), stored["dropped"])


def read_answer(answer: str, content: str) -> Findings | None:
    """Reads the model's answer about `content`; returns None if it is unreadable.

    Drops names that do not occur in `content`, and their relations. Accepts JSON surrounded by other text, and the
    complete objects of an answer that was cut short.
    """
    lists = _lists(answer[:LONGEST_ANSWER])
    if lists is None:
        return None
    entities, relations = lists
    names: dict[str, str] = {}
    dropped = 0
    for entity in entities[:MOST_OBJECTS]:
        name = written(entity.get("name"), content)
        if name is None or len(names) >= MOST_NAMES:
            dropped += 1
            continue
        kind = entity.get("type")
        names.setdefault(name, kind if kind in TYPES else "ENTITY")
    found: dict[FoundRelation, None] = {}
    bounds = Sentences(content).spans
    for relation in relations[:MOST_OBJECTS]:
        read = _relation(relation, content, bounds)
        if read is None or len(found) >= MOST_RELATIONS or len(names.keys() | {read.source, read.target}) > MOST_NAMES:
            dropped += 1
            continue
        names.setdefault(read.source, "ENTITY")
        names.setdefault(read.target, "ENTITY")
        found[read] = None
    return Findings(names, tuple(found), dropped)


def occurrences(content: str, name: str) -> list[tuple[int, int]]:
    """Returns the positions of the name as whole words, ignoring case and white space."""
    wanted = re.compile(r"(?<!\w)" + r"\s++".join(map(re.escape, name.split())) + r"(?!\w)", re.IGNORECASE)
    return [found.span() for found in wanted.finditer(content)]


def written(name: object, content: str) -> str | None:
    """Returns the name as it first occurs in the text; None if it does not occur or is no name."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
        return None
    places = occurrences(content, name)
    if not places:
        return None
    surface = content[slice(*places[0])]
    return surface if is_name(surface) else None


def relation_type(stated: object) -> str | None:
    """Converts a phrase to upper snake case (`born in` is BORN_IN); returns None if it cannot be a relation type."""
    if not isinstance(stated, str) or len(stated) > 2 * LONGEST_RELATION:
        return None
    words = WORDS.findall(stated)
    joined = "_".join(words).upper()
    plausible = 0 < len(words) <= MOST_RELATION_WORDS and len(joined) <= LONGEST_RELATION and words[0][0].isalpha()
    return joined if plausible and joined not in RESERVED else None


def _relation(stated: Mapping[str, Any], content: str, bounds: list[tuple[int, int]]) -> FoundRelation | None:
    source, target = written(stated.get("source"), content), written(stated.get("target"), content)
    kind = relation_type(stated.get("relation"))
    if source is None or target is None or kind is None or name_key(source) == name_key(target):
        return None
    start, end = _sentence(stated.get("sentence"), source, target, content, bounds)
    return FoundRelation(source, kind, target, start, end)


def _sentence(number: object, source: str, target: str, content: str, bounds: list[tuple[int, int]]) -> tuple[int, int]:
    """Returns the numbered sentence if it contains one of the names, else the first that contains both, else (0, 0)."""
    numbered = number if isinstance(number, int) and not isinstance(number, bool) else 0
    if 0 < numbered <= len(bounds):
        text = content[slice(*bounds[numbered - 1])]
        if occurrences(text, source) or occurrences(text, target):
            return bounds[numbered - 1]
    for bound in bounds:
        text = content[slice(*bound)]
        if occurrences(text, source) and occurrences(text, target):
            return bound
    return 0, 0


def _lists(answer: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]] | None:
    start = answer.find("{")
    if start < 0:
        return None
    whole = _decoded(answer, start)
    if whole is not None and isinstance(whole[0].get("entities", whole[0].get("relations")), list):
        return _objects(whole[0].get("entities")), _objects(whole[0].get("relations"))
    return _salvaged(answer, start)


def _salvaged(answer: str, start: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]] | None:
    """Returns the complete objects in a broken answer."""
    inner = list(_inner_objects(answer, start + 1))
    entities = [one for one in inner if "name" in one]
    relations = [one for one in inner if "source" in one and "target" in one]
    return (entities, relations) if entities or relations else None


def _inner_objects(answer: str, start: int) -> Iterator[dict[str, Any]]:
    for _ in range(MOST_OBJECTS):
        start = answer.find("{", start)
        if start < 0:
            return
        decoded = _decoded(answer, start)
        if decoded is None:
            start += 1
        else:
            yield decoded[0]
            start = decoded[1]


def _decoded(answer: str, start: int) -> tuple[dict[str, Any], int] | None:
    try:
        value, end = json.JSONDecoder().raw_decode(answer, start)
    except (ValueError, RecursionError):
        return None
    return (value, end) if isinstance(value, dict) else None


def _objects(values: object) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
