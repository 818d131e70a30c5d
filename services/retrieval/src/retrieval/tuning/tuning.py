"""The effective search settings of a workspace: the request's mode, else what is stored, else the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from contracts.retrieval import SearchMode, SearchSettings
from inference.embedders import SpaceKey
from relevance.bm25 import Parameters
from retrieval.ranking.features import Registry, SpaceWeights
from retrieval.ranking.fusion import RRF_K
from retrieval.ranking.rule import RankingRule


@dataclass(frozen=True)
class StoredSettings:
    """A row of `search_settings`, with the weights of the active space. None: the default; `version` 0: no row."""

    mode: str | None
    k1: float | None
    b: float | None
    rrf_k: int | None
    legs: Mapping[str, float] | None
    diversity: float | None
    version: int
    space_id: str | None
    model: str | None
    dims: int | None
    weights: Mapping[str, float] | None
    scaled: bool | None

    @property
    def space(self) -> SpaceKey | None:
        return (self.model, self.dims) if self.model is not None and self.dims is not None else None


@dataclass(frozen=True)
class Tuning:
    """The effective settings. `parameters` are those of BM25; `space` is the active one, None before the first.

    `diversity` (0: none) is the weight of novelty in maximal marginal relevance.
    """

    rule: RankingRule
    parameters: Parameters
    space: SpaceKey | None = None
    diversity: float = 0.0

    @classmethod
    def of(cls, stored: StoredSettings, registry: Registry) -> Tuning:
        """Returns the stored settings: a name that is newer than them has its default weight."""
        default = Parameters()
        space = registry.default_weights(stored.space)
        if stored.weights is not None:
            space = SpaceWeights(named(space.weights, stored.weights), bool(stored.scaled))
        rule = RankingRule(
            registry,
            space,
            legs=named(registry.legs, stored.legs or {}),
            mode=SearchMode(stored.mode) if stored.mode else SearchMode.hybrid,
            rrf_k=RRF_K if stored.rrf_k is None else stored.rrf_k,
        )
        parameters = Parameters(
            default.k1 if stored.k1 is None else stored.k1, default.b if stored.b is None else stored.b
        )
        return cls(rule, parameters, stored.space, stored.diversity or 0.0)

    def rule_for(self, mode: SearchMode | None) -> RankingRule:
        """Returns the rule of one request; `mode` is the request's, None for the workspace's own."""
        return replace(self.rule, mode=mode) if mode else self.rule

    def shown(self, stored: StoredSettings) -> SearchSettings:
        return SearchSettings(
            mode=self.rule.mode,
            k1=self.parameters.k1,
            b=self.parameters.b,
            rrf_k=self.rule.rrf_k,
            legs=dict(self.rule.legs),
            diversity=self.diversity,
            weights=dict(self.rule.space.weights),
            embedding_space=stored.space_id,
            version=stored.version,
        )


def named(weights: Mapping[str, float], changed: Mapping[str, float]) -> dict[str, float]:
    """Returns the weights with those that are changed; names that are in use no longer are left out."""
    return {name: changed.get(name, weight) for name, weight in weights.items()}
