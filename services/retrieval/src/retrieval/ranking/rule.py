"""The rule that ranks candidates."""

from __future__ import annotations

from dataclasses import dataclass, field

from contracts.retrieval import LegWeights, SearchMode
from retrieval.ranking.fusion import RRF_K
from retrieval.ranking.weights import BUNDLED, SpaceWeights


@dataclass(frozen=True)
class RankingRule:
    """The mode and its parameters: `rrf_k` and `legs` apply to `rrf`, `legs` also to `convex`, `space` to `hybrid`."""

    mode: SearchMode = SearchMode.hybrid
    rrf_k: int = RRF_K
    legs: LegWeights = field(default_factory=LegWeights)
    space: SpaceWeights = BUNDLED

    @property
    def asks_words(self) -> bool:
        return self.mode is not SearchMode.dense

    @property
    def asks_vectors(self) -> bool:
        return self.mode is not SearchMode.lexical

    @property
    def asks_names(self) -> bool:
        return self.mode is SearchMode.hybrid

    @property
    def asks_graph(self) -> bool:
        return self.mode in (SearchMode.hybrid, SearchMode.convex, SearchMode.rrf)
