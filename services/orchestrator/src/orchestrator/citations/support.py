"""Finds the span of a passage that supports a claim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from orchestrator.citations.terms import terms
from service_kit.sentences import sentences

LONGEST_QUOTE = 500
_QUOTED = re.compile(r"“([^”]{8,1000})”|\"([^\"\n]{8,1000})\"|«([^»]{8,1000})»|„([^“”„]{8,1000})[“”]")
_ELLIPSIS = re.compile(r"(?<!\s)\s*+(?:\[?(?:\.\.\.|…)\]?)\s*+")
_WORD = re.compile(r"\w+", re.UNICODE)
_SHORTEST_QUOTE_WORDS = 3


@dataclass(frozen=True)
class CitedSpan:
    """Marker [`number`] stands for characters `start` to `end` of passage number `passage` (counted from 1)."""

    number: int
    passage: int
    start: int
    end: int


@dataclass(frozen=True)
class Claim:
    """The text that a marker supports: what follows the previous marker, and the whole sentence."""

    segment: str
    sentence: str


def supporting_span(claim: Claim, passage: str) -> tuple[int, int] | None:
    """Returns the span of the passage that supports the claim best; None if nothing does.

    Text in quotation marks must occur in the passage word for word; otherwise one shared term is enough.
    """
    quoted = quotations(claim.segment)
    if quoted:
        located = [_locate(quote, passage) for quote in quoted]
        if not all(located):
            return None
        return max((span for spans in located for span in spans), key=lambda span: span[1] - span[0])
    return best_sentence(claim.segment, passage) or best_sentence(claim.sentence, passage)


def best_sentence(claim: str, passage: str) -> tuple[int, int] | None:
    """Returns the sentence most like the claim, cut to LONGEST_QUOTE; None if none shares a term with it."""
    best = max(likeness(claim, passage), key=lambda found: (found[2], -found[0]), default=None)
    return shortened(passage, best[0], best[1]) if best else None


def likeness(claim: str, passage: str) -> list[tuple[int, int, float]]:
    """Returns the passage's sentences that share terms with the claim: (start, end, cosine over sets of terms)."""
    wanted = terms(claim)
    found = []
    for start, end in sentences(passage):
        own = terms(passage[start:end])
        if common := len(wanted & own):
            found.append((start, end, common / sqrt(len(wanted) * len(own))))
    return found


def shortened(text: str, start: int, end: int) -> tuple[int, int]:
    """Returns the span, cut at a word's end if it is longer than LONGEST_QUOTE."""
    if end - start <= LONGEST_QUOTE:
        return start, end
    cut = text.rfind(" ", start, start + LONGEST_QUOTE)
    return start, cut if cut > start else start + LONGEST_QUOTE


def quotations(text: str) -> Sequence[str]:
    """Returns the quotations in the text that are longer than a name or a term."""
    found = (next(filter(None, groups)) for groups in _QUOTED.findall(text))
    return [quote for quote in found if len(_WORD.findall(quote)) >= _SHORTEST_QUOTE_WORDS]


def _locate(quote: str, passage: str) -> list[tuple[int, int]]:
    """Finds the quote, ignoring case, punctuation and line breaks; in parts if it leaves something out."""
    spans = []
    for part in _ELLIPSIS.split(quote):
        words = _WORD.findall(part)
        if not words:
            continue
        match = re.search(r"\b" + r"\W+".join(map(re.escape, words)) + r"\b", passage, re.IGNORECASE)
        if match is None:
            return []
        spans.append(match.span())
    return spans
