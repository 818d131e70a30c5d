"""Finds the names in a question, and those that no text has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.citations.analysis import WORDS
from orchestrator.citations.terms import stem
from relevance.german import is_german

_IDENTIFIER = r"(?<![\w-])[^\W\d_]{2,20}-\d{1,10}(?![\w-])"
_JOINED_NAME = r"\b[A-Z][a-z0-9]{1,30}[A-Z][A-Za-z0-9]{1,60}\b"
# Capitalised words that do not begin a sentence.
_CAPITAL = r"(?<=[^\s.!?:;“„\"'(] )[A-Z][a-zà-ÿ]{2,40}(?: [A-Z][a-zà-ÿ]{2,40}){0,4}(?![\w-])"
_NAME = re.compile(f"(?P<identifier>{_IDENTIFIER})|(?P<joined>{_JOINED_NAME})|(?P<capital>{_CAPITAL})")
_KNOWN_IDENTIFIER = re.compile(_IDENTIFIER)
_BETWEEN_WORDS = re.compile(r"[\s_-]")
_WORD = re.compile(r"[^\W_]+")
_BESIDE = re.compile(r"\s?(?:,|&|/|,? (?:and|or|und|oder)) ?")
_NAMES_NOTHING = frozenset(WORDS["capitals of no name"])


@dataclass(frozen=True)
class NamedThings:
    """The names of a question that occur in the texts, and those that do not.

    `apart`: the absent ones are only listed beside others ("A and B"), so that what is known of those answers a part.
    """

    there: Sequence[str]
    absent: Sequence[str]
    apart: bool = False


def named_in(question: str, texts: Sequence[str]) -> NamedThings:
    """Finds the question's identifiers (INC-207), joined names (OrderApi) and capitalised words (Albatross).

    The texts may have a joined name as words: Order API, `order-api`. If nouns are capitalised, as in German, or all
    words are, capitals do not indicate names.
    """
    whole = " ".join(texts).casefold()
    identifiers, joined = set(_KNOWN_IDENTIFIER.findall(whole)), _BETWEEN_WORDS.sub("", whole)
    words = " ".join(set(_WORD.findall(whole)))
    capitals = _tell_names(question)
    there: dict[str, None] = {}
    absent: dict[str, None] = {}
    places: list[tuple[int, int, bool]] = []
    for match in _NAME.finditer(question):
        name = match[0].casefold()
        if match["identifier"]:
            stands = name in identifiers
        elif match["joined"]:
            stands = name in joined
        elif capitals and (
            parts := [one for one in name.split() if {one, one.removesuffix("s")}.isdisjoint(_NAMES_NOTHING)]
        ):
            stands = all(stem(one).rstrip("i") in words for one in parts)
        else:
            continue
        (there if stands else absent)[match[0]] = None
        places.append((*match.span(), stands))
    return NamedThings(list(there), list(absent), _stand_beside(question, places))


def _tell_names(question: str) -> bool:
    """Returns whether capitals indicate names: not in German, and not if most words have one."""
    words = [word for word in _WORD.findall(question)[1:] if len(word) > 2]
    return not is_german(question) and 2 * sum(word[0].isupper() for word in words) <= len(words) + 2


def _stand_beside(question: str, places: Sequence[tuple[int, int, bool]]) -> bool:
    """Returns whether each absent name is in a list of names of which another occurs in the texts."""
    row: list[bool] = []
    rows = [row]
    end = None
    for start, stop, stands in places:
        if end is not None and not _BESIDE.fullmatch(question, end, start):
            row = []
            rows.append(row)
        row.append(stands)
        end = stop
    lacking = [one for one in rows if not all(one)]
    return bool(lacking) and all(any(one) for one in lacking)
