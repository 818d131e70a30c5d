"""Finds the span of a passage that supports a claim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from orchestrator.citations.analysis import Analysis
from orchestrator.citations.judgement import CLOSE, VERIFIED, compare, is_foreign
from orchestrator.citations.source import SourceText
from orchestrator.citations.terms import terms

LONGEST_QUOTE = 500
_QUOTED = re.compile(r"“([^“”]{8,1000})”|\"([^\"\n]{8,1000})\"|«([^«»]{8,1000})»|„([^“”„]{8,1000})[“”]")
_ELLIPSIS = re.compile(r"(?<!\s)\s*+(?:\[?(?:\.\.\.|…)\]?)\s*+")
_WORD = re.compile(r"\w+", re.UNICODE)
_SHORTEST_QUOTE_WORDS = 3
_LAYOUT = re.compile(r"^\s*+(?:[-*+•>|]|\d{1,3}[.)]|#{1,6})\s")
_INDEX = re.compile(r"\[\d{1,3}\]")  # in code: a[1]
# A claim with this many words that shares less than this with its source shares it by chance.
_LONG_CLAIM = 6
LEAST_SHARE = 0.12


@dataclass(frozen=True)
class CitedSpan:
    """Marker [`number`] refers to characters `start` to `end` of passage number `passage` (from 1)."""

    number: int
    passage: int
    start: int
    end: int


@dataclass(frozen=True)
class Claim:
    """The text that a marker supports: what follows the previous marker, and the complete sentence."""

    segment: str
    sentence: str


def supporting_span(claim: Claim, source: SourceText) -> tuple[int, int] | None:
    """Returns the span of the source that best supports the claim; None if nothing does.

    Text in quotation marks must occur there word for word; otherwise one shared term is enough for a comparison, and
    none is needed if the languages differ.
    """
    quoted = quotations(claim.segment)
    if quoted:
        located = [_locate(quote, source.content) for quote in quoted]
        if not all(located):
            return None
        return max((span for spans in located for span in spans), key=lambda span: span[1] - span[0])
    if found := best_sentence(claim.segment, source) or best_sentence(claim.sentence, source):
        return found
    foreign = source.spans and is_foreign(Analysis(claim.sentence), source.whole)
    return shortened(source.content, *source.spans[0]) if foreign else None


def refusal(claim: Claim, sources: Sequence[SourceText], number: int) -> str:
    """Returns why source `number` (from 1) does not support the claim, in plain words; empty if it may.

    Content of the claim from another source of the run does not count against this one, unless that one says it all.
    """
    if quotations(claim.segment):
        return ""  # compared word for word
    text = unmarked(claim.segment if len(terms(claim.segment)) > 1 else claim.sentence)
    claim_analysis, source = Analysis(text), sources[number - 1]
    judged = compare(claim_analysis, source)
    others = [other for at, other in enumerate(sources, 1) if at != number]
    if judged.verdict == "contradicted":
        allowed = ("verified",) if judged.share >= VERIFIED else ("verified", "unclear")
        if any(compare(claim_analysis, joined(text, source, other)).verdict in allowed for other in others):
            return ""
        return judged.reason
    if judged.verdict == "unclear" and len(terms(text)) >= _LONG_CLAIM and not is_foreign(claim_analysis, source.whole):
        if judged.share < LEAST_SHARE:
            return "too little in common"
        if judged.share < CLOSE and any(compare(claim_analysis, other).verdict == "verified" for other in others):
            return "another source says it"
    return ""


def unmarked(text: str) -> str:
    """Returns the text without leading layout marks, and without an index into code."""
    return _LAYOUT.sub("", _INDEX.sub(" ", text))


def joined(claim_analysis: str, first: SourceText, other: SourceText) -> SourceText:
    """Returns the most similar sentence of each of the two sources, as one text."""
    spans = ((source, best_sentence(claim_analysis, source)) for source in (first, other))
    return SourceText(
        "\n".join(source.content[slice(*span)] for source, span in spans if span), first.heading, first.alike
    )


def best_sentence(claim: str, source: SourceText) -> tuple[int, int] | None:
    """Returns the sentence most similar to the claim, cut to LONGEST_QUOTE; None if none shares a term with it."""
    best = max(likeness(claim, source), key=lambda found: (found[2], -found[0]), default=None)
    return shortened(source.content, best[0], best[1]) if best else None


def likeness(claim: str, source: SourceText) -> list[tuple[int, int, float]]:
    """Returns the source's sentences that share terms with the claim: (start, end, cosine over sets of terms)."""
    wanted = terms(claim)
    found = []
    for (start, end), own in zip(source.spans, source.terms, strict=True):
        if common := len(wanted & own):
            found.append((start, end, common / sqrt(len(wanted) * len(own))))
    return found


def shortened(text: str, start: int, end: int) -> tuple[int, int]:
    """Returns the span, cut at the end of a word if it is longer than LONGEST_QUOTE."""
    if end - start <= LONGEST_QUOTE:
        return start, end
    cut = text.rfind(" ", start, start + LONGEST_QUOTE)
    return start, cut if cut > start else start + LONGEST_QUOTE


def quotations(text: str) -> Sequence[str]:
    """Returns the quotations in the text that are longer than a name or term."""
    found = (next(filter(None, groups)) for groups in _QUOTED.findall(text))
    return [quote for quote in found if len(_WORD.findall(quote)) >= _SHORTEST_QUOTE_WORDS]


def _locate(quote: str, passage: str) -> list[tuple[int, int]]:
    """Finds the quote, ignoring case, punctuation and line breaks; in parts if it has omissions."""
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
