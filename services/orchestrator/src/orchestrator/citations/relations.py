"""Compares how two sentences relate the same words: who does what to whom, which number belongs to what."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TypeVar

from orchestrator.citations.analysis import OPPOSITES, SYNONYMS, WORDS, Analysis, Word, has_content
from orchestrator.citations.terms import stem

T = TypeVar("T")
# Verbs and comparisons whose two sides must not be swapped.
_DIRECTED = frozenset(map(stem, WORDS["directed"]))
_NEAR = 4  # words on either side
_SHORT = 5  # words
_NO_NOUN = ("ed", "ly", "ing", "lich", "isch")
_NO_NOUN_FOLLOWS = frozenset(WORDS["no noun follows"])


def sides_swapped(claim: Analysis, source: Analysis, language: str) -> str:
    """Returns the word whose two sides are swapped; in other languages than English only if nothing else changed."""
    if language != "en" and sorted(claim.lower) != sorted(source.lower):
        return ""
    return _turned(claim, source, _DIRECTED)


def words_turned(claim: Analysis, source: Analysis) -> str:
    """Returns any word whose two sides are swapped; it may be a verb that is in no list.

    Only for short sentences: in longer ones whole clauses move without a change of meaning.
    """
    if len(claim.words) > _SHORT:
        return ""
    return _turned(claim, source, claim.stems & source.stems)


def _turned(claim: Analysis, source: Analysis, around: frozenset[str]) -> str:
    pivots: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    for at, token in enumerate(source.lower):
        if stem(token) in around:
            pivots.setdefault(stem(token), _sides(source, at))
    for at, token in enumerate(claim.lower):
        if (there := pivots.get(stem(token))) is None:
            continue
        left, right = _sides(claim, at)
        crossed = left & there[1] and right & there[0]
        if crossed and not left & there[0] and not right & there[1]:
            return token
    return ""


def _sides(text: Analysis, at: int) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the content words before and after the token; "called by" swaps them."""
    own = stem(text.lower[at])
    places = [place for place in range(max(0, at - 8), min(len(text.lower), at + 9)) if text.lower[place] not in ";.!?"]
    known = text.stems
    left = [stem(text.lower[place]) for place in reversed(places) if place < at]
    right = [stem(text.lower[place]) for place in places if place > at]
    sides = tuple(frozenset([one for one in side if one in known and one != own][:_NEAR]) for side in (left, right))
    passive = text.lower[at + 1 : at + 2] == ["by"]
    return (sides[1], sides[0]) if passive else (sides[0], sides[1])


def numbers_swapped(claim: Analysis, source: Analysis) -> bool:
    """Returns whether the same numbers occur in another order between the same words in the same order."""
    mine, theirs = _once(_values(claim)), _once(_values(source))
    if len(mine.keys() & theirs.keys()) < 2 or _in_order(mine, theirs):
        return False
    words, others = _once([word.stem for word in claim.words]), _once([word.stem for word in source.words])
    return len(words.keys() & others.keys()) >= 2 and _in_order(words, others)


def substituted(claim: Analysis, source: Analysis, unseen: Sequence[Word]) -> str:
    """Returns a noun that the source lacks, between words that surround something else there."""
    missing = {word.at for word in unseen}
    places: dict[str, list[int]] = {}
    for place, word in enumerate(source.words):
        places.setdefault(word.stem, []).append(place)
    at = 0
    for gone, run in groupby(claim.words, key=lambda word: word.at in missing):
        words = list(run)
        end = at + len(words)
        around = ((at, end), (at, end + 1), (at - 1, end))  # "muscle cells" if the source only has "cells"
        if gone and _is_noun(claim, words[0]) and any(_another_there(claim, source, places, *one) for one in around):
            return " ".join(word.text for word in words)
        at = end
    return ""


def _another_there(claim: Analysis, source: Analysis, places: dict[str, list[int]], start: int, end: int) -> bool:
    """Returns whether the source has other words where the sentence has words `start` to `end`."""
    size = end - start
    before = places.get(claim.words[start - 1].stem, [])[:8] if start > 0 else []
    after = places.get(claim.words[end].stem, [])[:8] if end < len(claim.words) else []
    gaps = [(first + 1, last) for first in before for last in after if 1 <= last - first - 1 <= size + 4]
    if start <= 0:
        gaps = [(max(0, last - size), last) for last in after]
    elif end >= len(claim.words):
        gaps = [(first + 1, first + 1 + size) for first in before]
    return any(_is_new(word.stem, claim) for first, last in gaps for word in source.words[first:last])


def _is_new(stem: str, claim: Analysis) -> bool:
    return stem not in claim.stems and claim.all_stems.isdisjoint(SYNONYMS.get(stem, ()))


def _is_noun(claim: Analysis, word: Word) -> bool:
    if word.stem in OPPOSITES or word.text.lower().endswith(_NO_NOUN):
        return False
    before = claim.lower[word.at - 1] if word.at else ""
    is_verb = word.text.endswith("s") and before.isalpha() and has_content(before)  # "a cache holds"
    return not is_verb and before not in _NO_NOUN_FOLLOWS


def _values(text: Analysis) -> list[tuple[float, ...]]:
    return [one.values for one in text.numbers]


def _once(found: Sequence[T]) -> dict[T, int]:
    """Returns the positions of items that occur once."""
    counted: dict[T, int] = {}
    for one in found:
        counted[one] = counted.get(one, 0) + 1
    return {one: at for at, one in enumerate(found) if counted[one] == 1}


def _in_order(mine: dict[T, int], theirs: dict[T, int]) -> bool:
    shared = [one for one in mine if one in theirs]
    order = [theirs[one] for one in shared]
    return order == sorted(order)
