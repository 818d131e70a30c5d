"""The rule that ranks candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from contracts.retrieval import SearchMode
from retrieval.ranking.features import Registry, SpaceWeights
from retrieval.ranking.fusion import RRF_K

FUSED = (SearchMode.hybrid, SearchMode.convex, SearchMode.rrf)


def runs(mode: SearchMode, leg: str) -> bool:
    """Returns whether a mode uses this leg: a mode with the name of a leg uses that one alone."""
    return mode in FUSED or mode.value == leg


@dataclass(frozen=True)
class RankingRule:
    """The mode and its parameters: `rrf_k` and `legs` apply to `rrf`, `legs` also to `convex`, `space` to `hybrid`."""

    registry: Registry
    space: SpaceWeights
    legs: Mapping[str, float]
    mode: SearchMode = SearchMode.hybrid
    rrf_k: int = RRF_K
