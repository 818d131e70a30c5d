"""Aligns the words of a sentence with those of its source, to find replaced words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

from orchestrator.citations.analysis import SYNONYM_GROUPS, Analysis, Word, beginning
from orchestrator.citations.numbers import UNIT_WORDS

# Returns the similarity of two words, from -1 to 1.
WordLikeness = Callable[[str, str], float]
PUT_DIFFERENTLY = 0.4  # from this similarity on, two words mean the same
MOST_WORDS = 200


def unlike(_first: str, _other: str) -> float:
    """Returns 0: knows no similar words."""
    return 0.0


def replaced(claim: Analysis, source: Analysis, alike: WordLikeness) -> tuple[str, str] | None:
    """Returns words that the source lacks, with the dissimilar words that it has in their place.

    Words that are only reordered, added or left out replace nothing.
    """
    if max(len(claim.words), len(source.words)) > MOST_WORDS:
        return None
    mine, theirs = list(map(_key, claim.words)), list(map(_key, source.words))
    new, left = Counter(mine) - Counter(theirs), Counter(theirs) - Counter(mine)
    if not new or not left:
        return None
    for tag, start, end, first, last in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        if tag != "replace":
            continue
        put = [
            word.text for word in claim.words[start:end] if _key(word) in new and word.text.lower() not in UNIT_WORDS
        ]
        there = [word.text for word in source.words[first:last] if _key(word) in left]
        if put and there and not _like(put, there, alike):
            return " ".join(put), " ".join(there)
    return None


def _like(put: Sequence[str], there: Sequence[str], alike: WordLikeness) -> bool:
    """Returns whether each word has a similar one."""
    return all(any(alike(one, other) >= PUT_DIFFERENTLY for other in there) for one in put)


def _key(word: Word) -> str:
    return SYNONYM_GROUPS.get(word.stem) or beginning(word.stem)
