"""Checks whether one name can be short for another: "Strick" for Joseph Strick, "Taito" for Taito Corporation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge_graph.extraction.names import HEADS, KINDS, PARTICLES
from knowledge_graph.extraction.word_lists import words

HONORIFICS = words("honorifics")
DESIGNATORS = words("designators")
REGNAL = re.compile(r"[ivx]{1,5}$")
PLACES = frozenset({"GPE", "LOC", "FAC"})
SHIPS = frozenset({"uss", "hms", "ss", "rms", "hmas", "hmcs", "mv", "sms"})
BODIES = frozenset({"ORG", "ENTITY", "FAC", "PRODUCT", "PERSON"})
LINKS = frozenset({"of", "for", "in", "and", "the", "on", "to", "with"})
JUNIOR = frozenset({"jr", "sr", "junior", "senior"})
MOST_NAMES_OF_PERSON = 5


@dataclass(frozen=True)
class Named:
    """A name's folded words, and its type."""

    words: tuple[str, ...]
    entity_type: str


def stands_for(short: Named, full: Named) -> bool:
    """Returns whether `short` can stand for `full`, which has more words, within one document."""
    if full.entity_type in {"NORP", "SERVICE", "STORE", "TEAM", "DOCUMENT_ID", "IDENTIFIER"} or (
        short.entity_type == "NORP" and len(short.words) > 1
    ):
        return False
    if _bare(full.words) == list(short.words):
        return False  # the other way round: "King Lothair II" is Lothair II
    if REGNAL.match(full.words[-1]) and full.words[:-1] == short.words:
        return True
    if full.words[0] not in SHIPS and _is_person(short, full):
        return True
    return full.entity_type in BODIES and short.entity_type != "LOC" and _is_body(short, full.words)


def _is_person(short: Named, full: Named) -> bool:
    """Returns whether `short` is the last name, the first name, or both with fewer names in between. The model's types
    are guesses, so anything shaped like a person's name counts as one, but then only by its last name."""
    bare = [word for word in _bare(full.words) if word not in JUNIOR]
    named = [word for word in short.words if word not in JUNIOR]
    if not named or len(bare) > MOST_NAMES_OF_PERSON or len(named) > len(bare):
        return False
    if JUNIOR.intersection(short.words) and not JUNIOR.intersection(full.words):
        return False
    if len(bare) == 3 and bare[1] in {"of", "the"} and named == bare[:1]:  # "Mafalda of Savoy", "Boso the Elder"
        return len(named[0]) > 1 and named[0] not in KINDS | HEADS
    typed = full.entity_type == "PERSON"
    if (full.entity_type in PLACES and short.entity_type != "PERSON") or (not typed and not _has_shape(bare)):
        return False
    if len(named) == 1:
        if typed and named[0] == bare[0] and not _has_kind(bare):
            return len(named[0]) > 1
        both_people = typed and short.entity_type == "PERSON"
        return len(named[0]) > 1 and named[0] == _surname(bare) and (both_people or named[0] not in KINDS)
    is_first = named[0] == bare[0] or (len(named[0]) == 1 and bare[0].startswith(named[0]))
    return _ends_with(bare, named) or (is_first and named[-1] == _surname(bare) and _in_order(named[1:], bare[1:]))


def _bare(words: Sequence[str]) -> list[str]:
    """Returns the words without leading honorifics."""
    first = 0
    while first < len(words) - 1 and words[first] in HONORIFICS:
        first += 1
    return list(words[first:])


def _has_shape(bare: Sequence[str]) -> bool:
    is_long = not 2 <= len([word for word in bare if word not in PARTICLES]) <= MOST_NAMES_OF_PERSON - 1
    return not is_long and not _has_kind(bare)


def _has_kind(bare: Sequence[str]) -> bool:
    return any(word in KINDS or word in HEADS or word in DESIGNATORS or word in LINKS for word in bare)


def _surname(bare: Sequence[str]) -> str:
    """Returns the last name; before a regnal number, the first name."""
    return bare[-2] if len(bare) > 1 and REGNAL.match(bare[-1]) else bare[-1]


def _is_body(short: Named, full: Sequence[str]) -> bool:
    """Returns whether the full name only adds a legal form or "of …", or ends in the short form's kind of thing."""
    size = len(short.words)
    rest = full[size:]
    if full[:size] == short.words:
        names_kind = short.words[-1] in HEADS and (size > 1 or short.words[0] in KINDS)
        return all(word in DESIGNATORS for word in rest) or (rest[0] in {"of", "for"} and names_kind)
    # "the Museum" for the Foundling Museum; "Arsenal" for the Royal Arsenal
    is_kind = size == 1 and short.words[0] in KINDS
    return not LINKS.intersection(full) and _ends_with(full, short.words) and (is_kind or full[0] in {"royal"})


def _ends_with(full: Sequence[str], end: Sequence[str]) -> bool:
    return (len(end) > 1 and list(full[-len(end) :]) == list(end)) or (len(end) == 1 and full[-1] == end[0])


def _in_order(some: Sequence[str], all_words: Sequence[str]) -> bool:
    """Returns whether `some` occur in `all_words` in this order; an initial matches a word that begins with it."""
    rest = iter(all_words)
    return all(any(word == one or (len(one) == 1 and word.startswith(one)) for word in rest) for one in some)
