"""Finds words that could be a name, in case another document makes them one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from knowledge_graph.extraction.capitalised import Token, tokens
from knowledge_graph.extraction.identifiers import without_addresses
from knowledge_graph.extraction.names import ARTICLES, PARTICLES, STOP_WORDS, entity_id, is_name, name_key
from knowledge_graph.extraction.records import Candidate, Span
from knowledge_graph.extraction.sentences import Sentences

MOST_WORDS = 6
GAP = re.compile(r"[ \n]|[ ]?[-–/&+][ ]?|['’]s? |: ")
AFTER_SHORT = re.compile(r"\.[ ]?")
JOINED = re.compile(r"[-.]")
MOST_OF_CHUNK = 1_000
LONGEST_ABBREVIATION = 3
INSIDE = PARTICLES | {"of", "the", "and", "for", "in", "on", "to", "at", "by", "with", "from", "a", "an", "or"}
SHORTEST_SMALL = 4


def candidates(text: str, sentences: Sentences, mentions: Sequence[Span], chunk_id: str) -> Iterator[Candidate]:
    """Yields runs of up to six words in one sentence: the first and last have a capital or digit, the words between
    have one too or are like "of" and "the". Also yields lower-case words with a hyphen or dot inside. Nothing inside
    one of the `mentions`; at most 1,000 per chunk."""
    inside = [(span.start, span.end) for span in mentions]
    found = 0
    for start, end in _runs(without_addresses(text)):
        surface = text[start:end]
        if any(first <= start and end <= last for first, last in inside) or not is_name(surface):
            continue
        yield Candidate(entity_id(name_key(surface)), surface, chunk_id, start, end, *sentences.at(start))
        found += 1
        if found == MOST_OF_CHUNK:
            return


def _runs(text: str) -> Iterator[tuple[int, int]]:
    words = tokens(text)
    opens = [_opens(word) for word in words]
    for first, word in enumerate(words):
        if not opens[first]:
            if word.text[0].islower() and JOINED.search(word.text) and len(word.text) >= SHORTEST_SMALL:
                yield word.start, word.end
            continue
        for last in range(first, min(first + MOST_WORDS, len(words))):
            here = words[last]
            if last > first and not _joined(text, words[last - 1], here):
                break
            if here.capital or here.text[0].isdigit():
                if last > first or word.text.casefold() not in STOP_WORDS:
                    yield word.start, here.end
            elif here.text not in INSIDE:
                break


def _joined(text: str, before: Token, after: Token) -> bool:
    is_short = len(before.text) <= LONGEST_ABBREVIATION
    gap = text[before.end : after.start]
    return GAP.fullmatch(gap) is not None or (is_short and AFTER_SHORT.fullmatch(gap) is not None)


def _opens(word: Token) -> bool:
    """Returns whether a run can begin with the word. Articles are skipped, because they do not change the key."""
    return (word.capital or word.text[0].isdigit()) and word.text.casefold() not in ARTICLES
