"""The default weights of `hybrid` by embedding space."""

from __future__ import annotations

from dataclasses import dataclass, replace

from inference.embedders import SpaceKey
from inference.embeddings import BUNDLED_SPACE
from retrieval.ranking.fusion import Weights


@dataclass(frozen=True)
class SpaceWeights:
    """Weights of a space. If `scaled`, cosines become 0 for the worst and 1 for the best of the dense candidates."""

    weights: Weights
    scaled: bool = False


# From a grid search on the data sets of docs/figures.md, which is flat around these values. In them are no `phrases`,
# nor `named`: a quoted phrase should outweigh a word or two, and a named document whatever else mentions its name.
# `graph`: half of a chunk's score depends on its hop.
WORDS = Weights(bm25_share=0.3, soft_match=0.4, title_named=0.15, all_terms=0.2, phrases=0.3, named=0.8)
GRAPH = Weights(link=0.5, bridge=0.9, graph=0.5)
BESIDE = replace(WORDS, link=GRAPH.link, bridge=GRAPH.bridge, graph=GRAPH.graph)
BUNDLED = SpaceWeights(replace(BESIDE, cosine=1.0, residual=0.2))
# Cosines of other models may be in any range. Measured with the bundled model, treated as an unknown one.
UNKNOWN = SpaceWeights(replace(BESIDE, cosine=0.3, residual=0.1), scaled=True)


def default_weights(space: SpaceKey | None) -> SpaceWeights:
    return BUNDLED if space is None or space == (BUNDLED_SPACE.model, BUNDLED_SPACE.dims) else UNKNOWN
