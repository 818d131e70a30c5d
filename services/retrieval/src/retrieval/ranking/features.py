"""The names that a search knows: features of candidates and legs, with their default weights. No IO."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from inference.embedders import SpaceKey
from inference.embeddings import BUNDLED_SPACE

Floats: TypeAlias = NDArray[np.float64]
Columns: TypeAlias = Mapping[str, Floats]
"""Values by name, one for each candidate; NaN where a value is unknown."""


@dataclass(frozen=True)
class Feature:
    """A column of the candidates, from 0 to 1 except for cosines (-1 to 1), and its default weight in `hybrid`.

    `elsewhere` is the weight in embedding spaces of other models than the bundled one. Their cosines may be in any
    range, so they are scaled between the worst and the best of the leg's candidates. A `factor` is not added, but
    reduces the score of the chunks that have it (`fusion.reduced`).
    """

    name: str
    weight: float
    elsewhere: float | None = None
    factor: bool = False


@dataclass(frozen=True)
class SpaceWeights:
    """The weights of `hybrid` in one embedding space. If `scaled`, cosines are scaled by the leg's candidates."""

    weights: Mapping[str, float]
    scaled: bool = False


@dataclass(frozen=True)
class Registry:
    """The features of `hybrid`, and the legs of `rrf` and `convex` with their default weights."""

    features: Sequence[Feature]
    legs: Mapping[str, float]

    def default_weights(self, space: SpaceKey | None) -> SpaceWeights:
        """Returns the default weights of an embedding space; None stands for the bundled one."""
        if space is None or space == (BUNDLED_SPACE.model, BUNDLED_SPACE.dims):
            return SpaceWeights({one.name: one.weight for one in self.features})
        other = {one.name: one.weight if one.elsewhere is None else one.elsewhere for one in self.features}
        return SpaceWeights(other, scaled=True)

    def unknown(self, features: Iterable[str], legs: Iterable[str]) -> list[str]:
        """Returns the names that no feature or leg has."""
        return sorted({*features} - {one.name for one in self.features}) + sorted({*legs} - self.legs.keys())
