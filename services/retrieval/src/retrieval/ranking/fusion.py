"""Fusion of the legs, without IO.

`hybrid` adds features on absolute scales, after Bruch et al. 2023 (An Analysis of Fusion Functions for Hybrid
Retrieval, theoretical in place of observed bounds): a leg that found nothing good has little to add, where scaling by
a query's own best hit would let it vote as loudly as the other. `convex` is such a scaling (min-max), for comparison,
and `rrf` is reciprocal rank fusion (Cormack et al. 2009).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TypeAlias

RRF_K = 60


@dataclass(frozen=True)
class Features:
    """What speaks for one candidate; all but the cosines (-1 to 1) lie between 0 and 1.

    `bm25_share`: BM25 over the sum of the query's word weights. `soft_match`: as `ranking.soft_match` says.
    `title_named`: the part of the title that the query names. `all_terms`: 1 if the chunk has every word of the query.
    `phrases`: the share of the query's phrases that it has. Of the knowledge graph, by its method: `residual` (a cosine
    too) is that with the query without its known names, `link` says how surely it is about such a name, `bridge` how
    well a bridge leads to it, `graph` how near it is over relations.
    """

    cosine: float = 0.0
    bm25_share: float = 0.0
    soft_match: float = 0.0
    title_named: float = 0.0
    all_terms: float = 0.0
    phrases: float = 0.0
    residual: float = 0.0
    link: float = 0.0
    bridge: float = 0.0
    graph: float = 0.0

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


Weights: TypeAlias = Features
FEATURES = tuple(Features().as_dict())


def absolute(features: Features, weights: Weights) -> float:
    """The fused score, without what `over_relations` makes of it."""
    return (
        weights.cosine * features.cosine
        + weights.bm25_share * features.bm25_share
        + weights.soft_match * features.soft_match
        + weights.title_named * features.title_named
        + weights.all_terms * features.all_terms
        + weights.phrases * features.phrases
        + weights.residual * features.residual
        + weights.link * features.link
        + weights.bridge * features.bridge
    )


def over_relations(score: float, near: float, *, found_otherwise: bool, part: float) -> float:
    """The score of a chunk that the graph reaches over relations, `near` (0 to 1) as its hop is.

    `part` of the score of one that the other legs found is times `near`, all of it where the graph alone found it.
    """
    part = min(1.0, part) if found_otherwise else 1.0
    return score * (1 - part + part * near)


def title_named(title: Collection[str], weights: Mapping[str, float]) -> float:
    """The part of the title's distinct terms that the query has, by the `weights` of the query's terms; 0 without a
    title. The title's other terms weigh as much as the query's do on average.
    """
    shared = weights.keys() & title
    named = sum(weights[term] for term in shared)
    if not named:
        return 0.0
    average = sum(weights.values()) / len(weights)
    return named / (named + average * (len(set(title)) - len(shared)))


def reciprocal_ranks(rankings: Iterable[tuple[float, Sequence[int]]], k: int = RRF_K) -> dict[int, float]:
    """The sum of weight / (k + rank) over the rankings; ranks count from 1."""
    scores: dict[int, float] = {}
    for weight, ranking in rankings:
        for rank, candidate in enumerate(ranking, 1):
            scores[candidate] = scores.get(candidate, 0.0) + weight / (k + rank)
    return scores


def scaled(scores: Mapping[int, float], found: Collection[int]) -> dict[int, float]:
    """0 for the worst of those that a leg found and 1 for the best; what is beyond them is cut off."""
    own = [scores[one] for one in found if one in scores]
    if not own:
        return dict.fromkeys(scores, 0.0)
    lowest, span = min(own), max(own) - min(own)
    if span <= 0:
        return {one: float(score >= lowest) for one, score in scores.items()}
    return {one: min(1.0, max(0.0, (score - lowest) / span)) for one, score in scores.items()}


def convex(legs: Iterable[tuple[float, Mapping[int, float]]]) -> dict[int, float]:
    """The weighted mean of scores from 0 to 1; what a leg has no score for has 0 in it."""
    legs = [(weight, scores) for weight, scores in legs if weight]
    total = sum(weight for weight, _ in legs)
    fused: dict[int, float] = {}
    for weight, scores in legs:
        for candidate, score in scores.items():
            fused[candidate] = fused.get(candidate, 0.0) + weight / total * score
    return fused


def of_wordings(main: Mapping[int, float], further: Sequence[Mapping[int, float]]) -> dict[int, float]:
    """Half the score under the query itself, half the best under any of its wordings: another wording can lift what
    answers it, and cannot bury what answers the query.
    """
    if not further:
        return dict(main)
    every = [main, *further]
    return {
        one: 0.5 * main.get(one, 0.0) + 0.5 * max(scores.get(one, 0.0) for scores in every)
        for one in set().union(*every)
    }
