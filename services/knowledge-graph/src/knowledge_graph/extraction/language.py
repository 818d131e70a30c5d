"""Whether a text is English, by its function words: the model invents names in other languages."""

from __future__ import annotations

import re

from knowledge_graph.extraction.names import STOP_WORDS
from knowledge_graph.extraction.word_lists import words

WORDS = re.compile(r"[^\W\d_]+")
FOREIGN = words("foreign_stop_words") - STOP_WORDS
CAPITALISES_NOUNS = frozenset(["der", "die", "das", "und", "ist", "nicht", "den", "dem", "ein", "eine", "von", "mit"])
LEAST_ENGLISH = 0.08
FEWEST_WORDS = 8
READ = 4_000


def looks_english(text: str) -> bool:
    """Of fewer than eight words nothing can be said: True."""
    found = [word.casefold() for word in WORDS.findall(text[:READ])]
    if len(found) < FEWEST_WORDS:
        return True
    english = sum(word in STOP_WORDS for word in found)
    return english / len(found) >= LEAST_ENGLISH and english >= sum(word in FOREIGN for word in found)


def capitalises_nouns(text: str) -> bool:
    """German: a single word's capital says nothing."""
    found = [word.casefold() for word in WORDS.findall(text[:READ])]
    german = sum(word in CAPITALISES_NOUNS for word in found)
    return german / max(1, len(found)) >= LEAST_ENGLISH and german > sum(word in STOP_WORDS for word in found)
