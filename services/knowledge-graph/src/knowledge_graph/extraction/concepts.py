"""Finds lower-case noun phrases that a document uses as terms: "access token", "rate limiter"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from knowledge_graph.extraction.names import STOP_WORDS, name_key
from knowledge_graph.extraction.records import Span
from knowledge_graph.extraction.word_lists import words

if TYPE_CHECKING:
    from spacy.tokens import Doc

FEWEST_WORDS, MOST_WORDS = 2, 4
FEWEST_USES = 2
"""A phrase is a term if the document uses it this often."""
VAGUE = words("vague_nouns")


def noun_phrases(document: Doc) -> Iterator[Span]:
    """Yields lower-case phrases of two to four nouns and adjectives; the last is a noun with a meaning of its own."""
    for chunk in document.noun_chunks:
        first = chunk.start
        while first < chunk.end and document[first].pos_ not in {"NOUN", "ADJ"}:
            first += 1
        phrase = document[first : chunk.end]
        if not FEWEST_WORDS <= len(phrase) <= MOST_WORDS:
            continue
        plain = all(token.pos_ in {"NOUN", "ADJ"} and token.is_alpha and token.is_lower for token in phrase)
        if plain and phrase[-1].pos_ == "NOUN" and phrase[-1].text not in VAGUE and phrase[0].text not in STOP_WORDS:
            yield Span(phrase.start_char, phrase.end_char, phrase.text, "CONCEPT")


def terms(phrases: Iterable[Span]) -> frozenset[str]:
    """Returns the keys of the phrases that a document uses at least twice."""
    keys = [name_key(phrase.surface) for phrase in phrases]
    uses = Counter(key.removesuffix("s") for key in keys)
    return frozenset(key for key in keys if uses[key.removesuffix("s")] >= FEWEST_USES)
