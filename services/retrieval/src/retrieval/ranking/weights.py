"""The default weights of `hybrid` by embedding space."""

from __future__ import annotations

from dataclasses import dataclass, replace

from inference.embedders import SpaceKey
from inference.embeddings import BUNDLED_SPACE
from retrieval.ranking.fusion import Weights


@dataclass(frozen=True)
class SpaceWeights:
    """With `scaled` the cosine enters as 0 for the worst and 1 for the best of the dense leg's candidates."""

    weights: Weights
    scaled: bool = False


# A grid on the sets of docs/figures.md, flat around these values. `phrases` do not occur there: what was put in quotes
# is to outweigh a word or two. `graph` is the half that a chunk's way over relations counts for beside its own score.
WORDS = Weights(bm25_share=0.3, soft_match=0.4, title_named=0.15, all_terms=0.2, phrases=0.3)
GRAPH = Weights(link=0.5, bridge=0.9, graph=0.5)
BESIDE = replace(WORDS, link=GRAPH.link, bridge=GRAPH.bridge, graph=GRAPH.graph)
BUNDLED = SpaceWeights(replace(BESIDE, cosine=1.0, residual=0.2))
# Cosines of another model may lie anywhere, and how far apart; measured with the bundled one as if it were unknown.
UNKNOWN = SpaceWeights(replace(BESIDE, cosine=0.3, residual=0.1), scaled=True)


def default_weights(space: SpaceKey | None) -> SpaceWeights:
    return BUNDLED if space is None or space == (BUNDLED_SPACE.model, BUNDLED_SPACE.dims) else UNKNOWN
