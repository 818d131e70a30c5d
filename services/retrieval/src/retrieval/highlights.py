"""Which sentences of the hits answer the query, without IO: terms choose what is embedded, both decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from retrieval.analysis import Analyzer
from retrieval.sentences import Span, is_code, spans

MOST_EMBEDDED = 40  # sentences of one request
MOST_PER_HIT = 3
COSINE_WEIGHT = 0.6
LONGEST_QUOTE = 1_000  # characters; a longer span is one only if nothing else is there


@dataclass(frozen=True)
class Sentence:
    """A quotable span of a hit. `share`: of the query's term weights, how much its terms have."""

    hit: int
    span: Span
    text: str
    share: float


@dataclass(frozen=True)
class Scored:
    """Characters `start` to `end` of a hit's content; `score` from 0 to 1."""

    start: int
    end: int
    score: float


def sentences_of(
    hit: int, content: str, media_type: str, weights: Mapping[str, float], analyzer: Analyzer
) -> list[Sentence]:
    """The spans of one hit, in their order."""
    mass = sum(weights.values())
    found = spans(content, code=is_code(media_type))
    quotable = [span for span in found if span[1] - span[0] <= LONGEST_QUOTE] or found
    return [
        Sentence(hit, span, text, _share(text, weights, mass, analyzer))
        for span in quotable
        for text in (content[span[0] : span[1]],)
    ]


def to_embed(by_hit: Sequence[Sequence[Sentence]], most: int = MOST_EMBEDDED) -> list[Sentence]:
    """Whose meaning is worth comparing: the better a hit stands, the more of its sentences, by share then order.

    Half of what is left goes to each hit in its turn, so that the first one, which answers most often, is read well.
    """
    chosen: list[Sentence] = []
    for rank, sentences in enumerate(by_hit):
        left = most - len(chosen)
        allowed = left if rank == len(by_hit) - 1 else max(MOST_PER_HIT, left // 2)
        chosen += sorted(sentences, key=lambda one: -one.share)[: min(allowed, left)]
    return chosen


def score(sentence: Sentence, cosine: float | None) -> float:
    """From 0 to 1; `cosine` is None where the sentence was not embedded."""
    if cosine is None:
        return (1 - COSINE_WEIGHT) * sentence.share
    return COSINE_WEIGHT * max(0.0, min(1.0, cosine)) + (1 - COSINE_WEIGHT) * sentence.share


def best(sentences: Sequence[Sentence], cosines: Mapping[tuple[int, Span], float]) -> list[Scored]:
    """The hit's best spans, the best first, those without any score left out."""
    scored = [(score(one, cosines.get((one.hit, one.span))), one.span) for one in sentences]
    ordered = sorted(scored, key=lambda one: (-one[0], one[1]))
    return [Scored(start, end, round(value, 4)) for value, (start, end) in ordered[:MOST_PER_HIT] if value > 0]


def _share(text: str, weights: Mapping[str, float], mass: float, analyzer: Analyzer) -> float:
    if not mass:
        return 0.0
    return sum(weights[term] for term in set(analyzer.terms(text)) if term in weights) / mass
