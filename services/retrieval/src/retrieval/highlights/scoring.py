"""Finds the sentences of hits that answer the query: by its terms, and by words that are like them. No IO."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass

from relevance.analysis import Analyzer
from relevance.languages import stemming_of
from relevance.soft_match import SoftMatcher
from retrieval.highlights.sentences import is_code, spans
from retrieval.reading.reader import IndexedChunk
from service_kit.sentences import Span

MOST_PER_HIT = 3
SOFT_WEIGHT = 0.6
CONTEXT_WEIGHT = 0.5  # of a term that is in the heading and not in the sentence
LONGEST_QUOTE = 1_000  # characters; a longer span is quoted only if there is no other


@dataclass(frozen=True)
class Sentence:
    """A quotable span of a hit. `share`: the share of the query's term weights that its terms have.

    `read` is the text that is compared: the span under its heading, which says what "it" is.
    """

    span: Span
    read: str
    share: float


@dataclass(frozen=True)
class ScoredSpan:
    """Characters `start` to `end` of a hit's content; `score` from 0 to 1."""

    start: int
    end: int
    score: float


def highlights(
    chunks: Sequence[IndexedChunk],
    query: str,
    weights: Mapping[str, float],
    weight: Callable[[str], float],
    analyzer: Analyzer,
    matcher: SoftMatcher,
) -> dict[int, list[ScoredSpan]]:
    """Returns spans by chunk, best first. `weights` are those of the query's terms, `weight` that of a word."""
    by_chunk = {chunk.number: sentences_of(chunk, weights, analyzer) for chunk in chunks}
    texts = matcher.pieces.distinct([one.read for sentences in by_chunk.values() for one in sentences])
    likeness = iter(matcher.score(matcher.pieces.weighted(query, weight), texts).tolist())
    return {number: best([(one, next(likeness)) for one in by_chunk[number]]) for number in by_chunk}


def sentences_of(chunk: IndexedChunk, weights: Mapping[str, float], analyzer: Analyzer) -> list[Sentence]:
    """Returns the spans of one hit in order; words are analysed by the rules of its document's language."""
    stemming = stemming_of(chunk.language)
    content, code = chunk.content, is_code(chunk.media_type)
    found = spans(content, code=code)
    quotable = [span for span in found if span[1] - span[0] <= LONGEST_QUOTE] or found
    # The first heading is the document's title, which is the same for all its sentences.
    heading = "" if code or len(chunk.heading_path) < 2 else chunk.heading_path[-1]
    implied = frozenset(analyzer.terms(heading, stemming)) & weights.keys()
    return [
        Sentence(
            span, f"{heading}: {text}" if heading else text, _share(analyzer.terms(text, stemming), weights, implied)
        )
        for span in quotable
        for text in (content[span[0] : span[1]],)
    ]


def best(scored: Sequence[tuple[Sentence, float]]) -> list[ScoredSpan]:
    """Returns the best spans, best first, without those that score 0. Each sentence comes with its soft match."""
    scores = [(SOFT_WEIGHT * soft + (1 - SOFT_WEIGHT) * one.share, one.span) for one, soft in scored]
    ordered = sorted(scores, key=lambda one: (-one[0], one[1]))
    return [ScoredSpan(start, end, round(value, 4)) for value, (start, end) in ordered[:MOST_PER_HIT] if value > 0]


def _share(terms: Collection[str], weights: Mapping[str, float], implied: Set[str]) -> float:
    """Returns the share of the weights; the heading's terms count only if the sentence has a term of its own."""
    own = weights.keys() & set(terms)
    if not own:
        return 0.0
    covered = sum(weights[term] for term in own) + CONTEXT_WEIGHT * sum(weights[term] for term in implied - own)
    return covered / (sum(weights.values()) or 1.0)
