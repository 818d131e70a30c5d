"""Words of questions and messages, and which of them are forms of each other, in English and German. No I/O."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from relevance.analysis import Analyzer
from relevance.german import GERMAN
from relevance.languages import ENGLISH

_TOKEN = re.compile(r"[^\s-]+(?:-[^\s-]{0,40}\d[^\s-]{0,40}){0,8}")
_MARKS = ".,;:!?()[]\"'“”„«»"
_MORE_STOP_WORDS = "i am me us our unser unsere unserem unseren unserer"
_STOP_WORDS = frozenset(_MORE_STOP_WORDS.split())
"""Words that mean nothing by themselves and are missing in the lists of stop words."""
LEAST_ALIKE, SHARE_ALIKE = 5, 0.7
"""Letters with which words of a family begin alike, at least, and as a share of the longer one."""
LEAST_PART = 4
"""Letters of a part of a compound."""
LEAST_MISTYPED = 6
"""Letters of words that may be the same, mistyped."""
_DOUBLED = re.compile(r"(.)\1")


@dataclass(frozen=True)
class SaidWord:
    """A word, where it begins, and its stems by the rules of both languages; none if it means nothing by itself."""

    text: str
    start: int
    stems: frozenset[str]


def words_of(text: str, analyzer: Analyzer, *, german: bool) -> list[SaidWord]:
    """Returns the words in order, those with a hyphen apart."""
    own, found = GERMAN if german else ENGLISH, list[SaidWord]()
    for token in _TOKEN.finditer(text):
        stems = frozenset[str]()
        word = token[0].strip(_MARKS)
        is_name = bool(found) and own == ENGLISH and len(word) > 1 and word.istitle()
        if is_name or (word.lower() not in _STOP_WORDS and analyzer.terms(word, own)):
            stems = frozenset(term for rules in (ENGLISH, GERMAN) for term in analyzer.terms(word, rules)[:1])
            stems = stems or frozenset({word.casefold()})  # the month May
        found.append(SaidWord(word, token.start(), stems))
    return found


def is_same(asked: SaidWord, word: SaidWord, words: Sequence[SaidWord], all_asked: Sequence[SaidWord]) -> bool:
    """Returns whether the word is a form of the one in the question, or they share parts of a compound."""
    if asked.stems & word.stems:
        return True
    return any(
        _of_family(one, other)
        or _is_mistyped(one, other)
        or _ends_alike(one, other)
        or is_in_two(one, other, words)
        or is_in_two(other, one, all_asked)
        for one in asked.stems
        for other in word.stems
    )


def _of_family(one: str, other: str) -> bool:
    """Returns whether both begin alike: supply, supplier."""
    shared = max(LEAST_ALIKE, ceil(SHARE_ALIKE * max(len(one), len(other))))
    return len(one) >= shared and one[:shared] == other[:shared]


def _is_mistyped(one: str, other: str) -> bool:
    """Returns whether they differ by two neighbouring letters in the wrong order, or by doubled letters."""
    if min(len(one), len(other)) < LEAST_MISTYPED or one[0] != other[0] or not (one.isalpha() and other.isalpha()):
        return False
    if _DOUBLED.sub(r"\1", one) == _DOUBLED.sub(r"\1", other):
        return True
    at = next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), 0)
    return one[:at] + one[at : at + 2][::-1] + one[at + 2 :] == other


def _ends_alike(asked: str, word: str) -> bool:
    """Returns whether the word is a compound with the one asked about: a Papierlieferant is a Lieferant."""
    return len(asked) > LEAST_PART and len(word) >= len(asked) + LEAST_PART and word.endswith(asked)


def is_in_two(compound: str, beginning: str, words: Sequence[SaidWord]) -> bool:
    """Returns whether a compound begins so, and ends with another of the words: Lagermiete, Miete für das Lager."""
    if len(beginning) < LEAST_PART or not compound.startswith(beginning):
        return False
    rest = compound[len(beginning) :]
    return any(
        len(end) >= LEAST_PART and (rest.startswith(end) or rest[1:].startswith(end))
        for one in words
        for end in one.stems
    )
