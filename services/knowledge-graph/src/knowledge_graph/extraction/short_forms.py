"""Whether one name can be short for another: "Strick" for Joseph Strick, "Taito" for Taito Corporation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge_graph.extraction.names import HEADS, ROLES
from knowledge_graph.extraction.word_lists import words

HONORIFICS = words("honorifics")
DESIGNATORS = words("designators")
REGNAL = re.compile(r"[ivx]{1,5}$")
PEOPLE = frozenset({"PERSON", "ENTITY"})
BODIES = frozenset({"ORG", "ENTITY", "FAC", "PRODUCT"})
LINKS = frozenset({"of", "for", "in", "and", "de", "von", "the"})
JUNIOR = frozenset({"jr", "sr", "junior", "senior"})
MOST_NAMES_OF_PERSON = 5


@dataclass(frozen=True)
class Named:
    """A name's folded words, and its type."""

    words: tuple[str, ...]
    entity_type: str


def stands_for(short: Named, full: Named) -> bool:
    """Both in one document; `full` has more words."""
    if full.entity_type == "PERSON" or (full.entity_type == "ENTITY" and short.entity_type == "PERSON"):
        return short.entity_type != "NORP" and _is_person(short.words, full.words)
    if REGNAL.match(full.words[-1]) and full.words[:-1] == short.words:
        return True
    if full.entity_type in BODIES and short.entity_type not in {"NORP", "LOC"}:
        return _is_body(short, full.words)
    is_untyped_person = full.entity_type == "ENTITY" and short.entity_type == "ENTITY" and len(full.words) <= 3
    return is_untyped_person and not LINKS.intersection(full.words) and _is_surname(short.words, full.words)


def _is_person(short: Sequence[str], full: Sequence[str]) -> bool:
    """First name, last name, or both with fewer names in between."""
    bare = [word for word in full if word not in JUNIOR]
    while len(bare) > 1 and bare[0] in HONORIFICS:
        bare = bare[1:]
    if len(bare) > MOST_NAMES_OF_PERSON + 1 or len(short) >= len(full):
        return False
    named = [word for word in short if word not in JUNIOR]
    if not named or (JUNIOR.intersection(short) and not JUNIOR.intersection(full)):
        return False
    if len(named) == 1:
        return len(named[0]) > 1 and named[0] in {bare[0], _surname(bare)}
    is_first = named[0] == bare[0] or (len(named[0]) == 1 and bare[0].startswith(named[0]))
    return _ends_with(bare, named) or (is_first and named[-1] == _surname(bare) and _in_order(named[1:], bare[1:]))


def _surname(bare: Sequence[str]) -> str:
    """The last name; in front of a number of kings the first."""
    return bare[-2] if len(bare) > 1 and REGNAL.match(bare[-1]) else bare[-1]


def _is_surname(short: Sequence[str], full: Sequence[str]) -> bool:
    return len(short) == 1 and short[0] == full[-1] and short[0] not in ROLES


def _is_body(short: Named, full: Sequence[str]) -> bool:
    """The full name goes on with what every company has in its name, with "of …", or ends in the kind of thing."""
    size = len(short.words)
    rest = full[size:]
    if full[:size] == short.words:
        names_kind = short.words[-1] in HEADS and (size > 1 or short.words[0] in ROLES)
        return all(word in DESIGNATORS for word in rest) or (rest[0] in {"of", "for"} and names_kind)
    # "the Museum" for the Foundling Museum; "Arsenal" for the Royal Arsenal
    is_kind = size == 1 and short.words[0] in ROLES
    return not LINKS.intersection(full) and _ends_with(full, short.words) and (is_kind or full[0] in {"royal"})


def _ends_with(full: Sequence[str], end: Sequence[str]) -> bool:
    return (len(end) > 1 and list(full[-len(end) :]) == list(end)) or (len(end) == 1 and full[-1] == end[0])


def _in_order(some: Sequence[str], all_words: Sequence[str]) -> bool:
    """Whether `some` stand in `all_words` in this order, an initial for the word that it begins."""
    rest = iter(all_words)
    return all(any(word == one or (len(one) == 1 and word.startswith(one)) for word in rest) for one in some)
