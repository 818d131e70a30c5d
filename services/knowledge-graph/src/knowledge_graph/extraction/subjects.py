"""Finds what a chunk is about by its own words: what a paragraph defines, the first name that is a subject."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from knowledge_graph.extraction.names import STOP_WORDS, is_name
from knowledge_graph.extraction.records import Span
from knowledge_graph.extraction.sentences import Sentences

TERM = r"[^\W\d_][^\n.:;!?()|*`]{1,60}?"
DEFINES = re.compile(
    rf"^[ \t]*(?:[-*•][ \t]+)?(?:(?:The|An?)[ \t]+)?[*_`\"“]{{0,3}}({TERM})[*_`\"”]{{0,3}}"
    r"(?:[ \t]*\([^()\n]{0,120}\))?"
    r"(?:,[^,\n]{1,80},)?[ \t]+(?:is|are|was|were)[ \t]+(?:an?|the|one[ \t]of)\b",
    re.MULTILINE,
)
LABELS = re.compile(
    rf"^[ \t]*(?:[-*•][ \t]+)?(?:\*\*({TERM}):?\*\*|__({TERM}):?__|`([^`\n]{{2,60}})`)"
    r"[ \t]*(?::|[–—-][ \t]|(?<=:\*\*))",
    re.MULTILINE,
)
BEFORE_SUBJECT = re.compile(r"[\"“'*_>#\s-]*+(?:the|an?)?[\s\"“'*_`]*+", re.IGNORECASE)
MOST_WORDS = 4


def defined(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """Yields names in `spans` that a paragraph's beginning defines, and other defined terms as CONCEPT."""
    ends = {(span.start, span.end): span for span in spans}
    for match in [*DEFINES.finditer(text), *LABELS.finditer(text)]:
        group = next(number for number, value in enumerate(match.groups(), 1) if value)
        start, end = match.span(group)
        term = match.group(group).rstrip()
        known = ends.get((start, start + len(term)))
        if known is not None:
            yield known
        elif not any(span.start < end and start < span.end for span in spans) and _is_term(term):
            yield Span(start, start + len(term), term, "CONCEPT")


def subject(text: str, sentences: Sentences, spans: Sequence[Span], subjects: Collection[int]) -> Span | None:
    """Returns the first name that opens a sentence or is the parser's subject of one (`subjects` are positions)."""
    for span in spans:
        opening = text[sentences.at(span.start)[0] : span.start]
        if BEFORE_SUBJECT.fullmatch(opening) or any(span.start <= place < span.end for place in subjects):
            return span
    return None


def _is_term(term: str) -> bool:
    words = term.split()
    return (
        len(words) <= MOST_WORDS
        and is_name(term)
        and not any(word.casefold() in STOP_WORDS for word in (words[0], words[-1]))
        and len(term) > 2
    )
