"""Fusion of the legs, without IO.

`hybrid` adds features on absolute scales, after Bruch et al. 2023 (An Analysis of Fusion Functions for Hybrid
Retrieval, theoretical instead of observed bounds): a leg that found nothing good adds little, while scaling by the
query's own best hit would give it as much weight as the other. `convex` scales that way (min-max), for comparison, and
`rrf` is reciprocal rank fusion (Cormack et al. 2009).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TypeAlias

RRF_K = 60


@dataclass(frozen=True)
class Features:
    """The features of one candidate, from 0 to 1 except for the cosines (-1 to 1).

    `bm25_share`: BM25 divided by the sum of the query's word weights. `soft_match`: see `relevance.soft_match`.
    `title_named`: the share of the title that the query names. `all_terms`: 1 if the chunk has every word of the query.
    `phrases`: the share of the query's phrases that it has. `named`: 1 if the query calls its document by name, or for
    an overview from 1 to 0.5 for its first chunks. From the knowledge graph, by its method: `residual` is the cosine
    with the query without its known names, `link` how surely the chunk is about such a name, `bridge` how well a bridge
    leads to it, `graph` how near it is by relations.
    """

    cosine: float = 0.0
    bm25_share: float = 0.0
    soft_match: float = 0.0
    title_named: float = 0.0
    all_terms: float = 0.0
    phrases: float = 0.0
    named: float = 0.0
    residual: float = 0.0
    link: float = 0.0
    bridge: float = 0.0
    graph: float = 0.0

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


Weights: TypeAlias = Features
FEATURES = tuple(Features().as_dict())


def absolute(features: Features, weights: Weights) -> float:
    """Returns the weighted sum of the features, without `graph`, which `over_relations` applies."""
    return (
        weights.cosine * features.cosine
        + weights.bm25_share * features.bm25_share
        + weights.soft_match * features.soft_match
        + weights.title_named * features.title_named
        + weights.all_terms * features.all_terms
        + weights.phrases * features.phrases
        + weights.named * features.named
        + weights.residual * features.residual
        + weights.link * features.link
        + weights.bridge * features.bridge
    )


def over_relations(score: float, near: float, *, found_otherwise: bool, part: float) -> float:
    """Returns the score of a chunk that the graph reaches by relations; `near` (0 to 1) depends on its hop.

    If other legs found the chunk too, only `part` of its score is multiplied by `near`, otherwise all of it.
    """
    part = min(1.0, part) if found_otherwise else 1.0
    return score * (1 - part + part * near)


def title_named(title: Collection[str], weights: Mapping[str, float]) -> float:
    """Returns the share of the title's distinct terms that the query has, by the `weights` of the query's terms; 0
    without a title. The title's other terms have the average weight of the query's terms.
    """
    shared = weights.keys() & title
    named = sum(weights[term] for term in shared)
    if not named:
        return 0.0
    average = sum(weights.values()) / len(weights)
    return named / (named + average * (len(set(title)) - len(shared)))


def reciprocal_ranks(rankings: Iterable[tuple[float, Sequence[int]]], k: int = RRF_K) -> dict[int, float]:
    """Returns the sum of weight / (k + rank) over the rankings; ranks count from 1."""
    scores: dict[int, float] = {}
    for weight, ranking in rankings:
        for rank, candidate in enumerate(ranking, 1):
            scores[candidate] = scores.get(candidate, 0.0) + weight / (k + rank)
    return scores


def scaled(scores: Mapping[int, float], found: Collection[int]) -> dict[int, float]:
    """Scales scores to 0 for the worst chunk that the leg found and 1 for the best; scores beyond are clipped."""
    own = [scores[one] for one in found if one in scores]
    if not own:
        return dict.fromkeys(scores, 0.0)
    lowest, span = min(own), max(own) - min(own)
    if span <= 0:
        return {one: float(score >= lowest) for one, score in scores.items()}
    return {one: min(1.0, max(0.0, (score - lowest) / span)) for one, score in scores.items()}


def convex(legs: Iterable[tuple[float, Mapping[int, float]]]) -> dict[int, float]:
    """Returns the weighted mean of scores from 0 to 1; a missing score counts as 0."""
    legs = [(weight, scores) for weight, scores in legs if weight]
    total = sum(weight for weight, _ in legs)
    fused: dict[int, float] = {}
    for weight, scores in legs:
        for candidate, score in scores.items():
            fused[candidate] = fused.get(candidate, 0.0) + weight / total * score
    return fused


def of_wordings(main: Mapping[int, float], further: Sequence[Mapping[int, float]]) -> dict[int, float]:
    """Returns half the score for the query itself plus half the best for any wording: another wording can raise the
    chunks that answer it, but cannot bury those that answer the query.
    """
    if not further:
        return dict(main)
    every = [main, *further]
    return {
        one: 0.5 * main.get(one, 0.0) + 0.5 * max(scores.get(one, 0.0) for scores in every)
        for one in set().union(*every)
    }
