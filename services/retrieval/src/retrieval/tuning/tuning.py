"""The search settings of a workspace, resolved: what a request says, else what is stored, else the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from contracts.retrieval import FusionWeights, LegWeights, SearchMode, SearchRequest, SearchSettings
from inference.embedders import SpaceKey
from retrieval.lexical.bm25 import Parameters
from retrieval.ranking.fusion import RRF_K, LegShares, Weights
from retrieval.ranking.rule import RankingRule
from retrieval.ranking.weights import SpaceWeights, default_weights


@dataclass(frozen=True)
class StoredSettings:
    """A row of `search_settings`, with the weights of the active space; None is the default. `version` 0: no row."""

    mode: str | None
    k1: float | None
    b: float | None
    rrf_k: int | None
    legs: Mapping[str, float] | None
    document_vectors: bool | None
    version: int
    space_id: str | None
    model: str | None
    dims: int | None
    weights: Mapping[str, float] | None
    scaled: bool | None
    fitted_on: str | None

    @property
    def space(self) -> SpaceKey | None:
        return (self.model, self.dims) if self.model is not None and self.dims is not None else None


@dataclass(frozen=True)
class Tuning:
    """`rule` orders, `parameters` are BM25's. `space`: what the workspace is searched in, None before its first.

    `documents`: whether its documents have vectors of their own.
    """

    rule: RankingRule
    parameters: Parameters
    space: SpaceKey | None = None
    documents: bool = False

    @classmethod
    def of(cls, stored: StoredSettings) -> Tuning:
        default = Parameters()
        space = default_weights(stored.space)
        if stored.weights is not None:
            # Weights of features that there were not yet when these were fitted are the default ones.
            weights = Weights(**{**space.weights.as_dict(), **stored.weights})
            space = SpaceWeights(weights, bool(stored.scaled), stored.fitted_on)
        rule = RankingRule(
            mode=SearchMode(stored.mode) if stored.mode else SearchMode.hybrid,
            rrf_k=RRF_K if stored.rrf_k is None else stored.rrf_k,
            legs=LegShares(**stored.legs) if stored.legs else LegShares(),
            space=space,
        )
        parameters = Parameters(
            default.k1 if stored.k1 is None else stored.k1, default.b if stored.b is None else stored.b
        )
        return cls(rule, parameters, stored.space, bool(stored.document_vectors))

    def asked(self, request: SearchRequest) -> RankingRule:
        """The rule for one request."""
        options, rule = request.fusion, self.rule
        if request.mode:
            rule = replace(rule, mode=request.mode)
        if options and options.rrf_k:
            rule = replace(rule, rrf_k=options.rrf_k)
        if options and options.legs:
            rule = replace(rule, legs=leg_shares(options.legs))
        if options and options.weights:
            rule = replace(rule, space=reweighted(rule.space, options.weights))
        return rule

    def shown(self, stored: StoredSettings) -> SearchSettings:
        return SearchSettings(
            mode=self.rule.mode,
            k1=self.parameters.k1,
            b=self.parameters.b,
            rrf_k=self.rule.rrf_k,
            legs=LegWeights(**asdict(self.rule.legs)),
            document_vectors=self.documents,
            weights=self.rule.space.weights.as_dict(),
            embedding_space=stored.space_id,
            fitted_on=self.rule.space.fitted_on,
            version=stored.version,
        )


def leg_shares(legs: LegWeights) -> LegShares:
    return LegShares(**legs.model_dump())


def reweighted(space: SpaceWeights, asked: FusionWeights) -> SpaceWeights:
    """With the weights that are asked for; what they were fitted on says nothing about them any more."""
    changed: dict[str, Any] = asked.model_dump(exclude_none=True)
    return replace(space, weights=replace(space.weights, **changed), fitted_on=None) if changed else space
