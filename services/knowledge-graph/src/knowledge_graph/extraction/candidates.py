"""Words that could be a name, for the day when another document makes them one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from knowledge_graph.extraction.capitalised import Token, tokens
from knowledge_graph.extraction.identifiers import without_addresses
from knowledge_graph.extraction.names import ARTICLES, STOP_WORDS, entity_id, is_name, name_key
from knowledge_graph.extraction.records import Candidate, Span
from knowledge_graph.extraction.sentences import Sentences

MOST_WORDS = 6
GAP = re.compile(r"[ \n]|[ ]?[-–/&+][ ]?|\.[ ]?|['’]s [ ]?|: ")
JOINED = re.compile(r"[-.]")
MOST_OF_CHUNK = 1_000
SHORTEST_SMALL = 4


def candidates(text: str, sentences: Sentences, mentions: Sequence[Span], chunk_id: str) -> Iterator[Candidate]:
    """Runs of up to six words of one sentence, first and last with a capital or digit; lower-case words with a hyphen or
    dot inside. At most 1,000 of a chunk, none inside one of its `mentions`; where two have one name and place, one."""
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
            if last > first and not GAP.fullmatch(text, words[last - 1].end, words[last].start):
                break
            if last > first and not (words[last].capital or words[last].text[0].isdigit()):
                continue
            if last > first or word.text.casefold() not in STOP_WORDS:
                yield word.start, words[last].end


def _opens(word: Token) -> bool:
    """An article changes no key, so that the run after it says the same."""
    return (word.capital or word.text[0].isdigit()) and word.text.casefold() not in ARTICLES
