"""Whether a text is English, by its function words: the model invents names in other languages."""

from __future__ import annotations

import re

from knowledge_graph.extraction.names import STOP_WORDS
from knowledge_graph.extraction.word_lists import words

WORDS = re.compile(r"[^\W\d_]+")
FOREIGN = words("foreign_stop_words") - STOP_WORDS
GERMAN = frozenset(["der", "die", "das", "und", "ist", "nicht", "den", "dem", "ein", "eine", "von", "mit"])
LEAST_ENGLISH = 0.08
LEAST_LATIN = 0.8
FEWEST_WORDS = 8
READ = 4_000


def looks_english(text: str) -> bool:
    """Of fewer than eight words nothing can be said: True."""
    found = [word.casefold() for word in WORDS.findall(text[:READ])]
    letters = sum(map(len, found))
    if sum(char.isascii() for word in found for char in word) < LEAST_LATIN * letters:
        return False
    if len(found) < FEWEST_WORDS:
        return True
    english = sum(word in STOP_WORDS for word in found)
    return english / len(found) >= LEAST_ENGLISH and english >= sum(word in FOREIGN for word in found)


def capitalises_nouns(text: str) -> bool:
    """German: a single word's capital says nothing."""
    found = [word.casefold() for word in WORDS.findall(text[:READ])]
    german = sum(word in GERMAN for word in found)
    return german / max(1, len(found)) >= LEAST_ENGLISH and german > sum(word in STOP_WORDS for word in found)
