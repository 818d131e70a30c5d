"""Derives one key for all spellings of a name: case, accents, possessive, plural, and how its words are joined."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence

from knowledge_graph.extraction.word_lists import equations, phrases, words

LONGEST_NAME = 120
LONGEST_NAME_WORDS = 12
WORD = re.compile(r"[^\W_]+")
POSSESSIVE = re.compile(r"['’]s?\s*$")
ARTICLES = frozenset({"the", "a", "an"})
# Only for nouns that name parts of systems: stripping every "s" would make Adams and Adam one person.
PLURAL = re.compile(
    r"(service|router|database|db|api|server|client|worker|queue|gateway|module|package|controller|handler|table|"
    r"team|project|store|repository|system|component)s$"
)
STOP_WORDS = words("stop_words")
ACRONYMS = words("acronyms")
"""Acronyms that are too common to be nodes."""
OFFICES = words("offices")
KINDS = words("kinds") | OFFICES
"""Offices, ranks and kinds of things: capitals alone do not make them names."""
PARTS = {kind: entity_type for kinds, entity_type in equations("kinds_of_parts", ",") for kind in kinds}
"""Nouns for parts of systems, teams and projects, each with its type."""
LABELS = words("labels")
GENERIC_HEADINGS = phrases("generic_headings")
"""Common names of columns, fields and sections."""
HEADS = words("heads")
"""Nouns whose names may continue with "of …" or "for …"."""
EPITHETS = words("epithets")
"""Words that may follow a first name and "the"."""
PARTICLES = words("particles")
"""Small words inside the names of people and places."""
SYNONYMS = {spelling: name for spellings, name in equations("synonyms") for spelling in spellings}


def name_key(surface: str) -> str:
    """Returns `authservice` for `Auth Service`, `AuthService`, `auth_service` and `the auth-services`; may be empty."""
    folded = surface[: 2 * LONGEST_NAME].casefold()
    if not folded.isascii():
        decomposed = unicodedata.normalize("NFKD", surface[: 2 * LONGEST_NAME])
        folded = "".join(char for char in decomposed if not unicodedata.combining(char)).casefold()
    parts = WORD.findall(POSSESSIVE.sub("", folded))
    if len(parts) > 1 and parts[0] in ARTICLES:
        parts = parts[1:]
    key = "".join(parts)
    return (PLURAL.sub(r"\1", key) if key.endswith("s") else key)[:LONGEST_NAME]


def entity_id(key: str) -> str:
    """Returns the first 32 hex digits of the key's SHA-256: a name has the same id in every document."""
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def is_name(surface: str) -> bool:
    """Returns False for what should not be a node: stop words, numbers, single letters, whole sentences."""
    key = name_key(surface)
    return (
        len(key) >= 2
        and len(surface) <= LONGEST_NAME
        and len(surface.split()) <= LONGEST_NAME_WORDS
        and (surface.casefold() not in STOP_WORDS or surface in SYNONYMS)
        and any(char.isalpha() for char in key)
    )


def is_generic(parts: Sequence[str]) -> bool:
    """Returns whether the folded words name no single thing: "Board", "Executive Vice President"."""
    is_kind = len(parts) == 1 and parts[0] in KINDS
    return is_kind or all(part in OFFICES or part in {"of", "the"} for part in parts) or is_label(parts)


def is_label(parts: Sequence[str]) -> bool:
    """Returns whether the folded words head a section or column of any document: "References", "Early life"."""
    return " ".join(parts) in GENERIC_HEADINGS or all(part in LABELS or part in {"of", "and"} for part in parts)
