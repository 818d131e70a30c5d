"""The port for entailment: does a text say what a sentence says?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from inference.errors import WrongLabels

EntailmentLabel = Literal["entailment", "neutral", "contradiction"]
LABELS: tuple[EntailmentLabel, ...] = ("entailment", "neutral", "contradiction")
_NAMES: dict[str, EntailmentLabel] = {
    **dict.fromkeys(("entailment", "entailed", "entails", "supported", "supports", "yes"), "entailment"),
    **dict.fromkeys(("contradiction", "contradicted", "contradicts", "refuted", "refutes"), "contradiction"),
    **dict.fromkeys(("neutral", "not_entailment", "not_entailed", "unsupported", "not_supported", "no"), "neutral"),
}


@dataclass(frozen=True, slots=True)
class TextPair:
    """A source's text and the sentence that relies on it."""

    premise: str
    hypothesis: str


@dataclass(frozen=True, slots=True)
class EntailmentScores:
    """The model's probability of each label; they add up to 1."""

    entailment: float
    neutral: float
    contradiction: float

    @property
    def label(self) -> EntailmentLabel:
        """Returns the most probable label."""
        return max(LABELS, key=lambda label: float(getattr(self, label)))


class EntailmentModel(Protocol):
    """A model that judges whether premises entail hypotheses, reading both together."""

    @property
    def model(self) -> str: ...

    async def classify(self, pairs: Sequence[TextPair]) -> list[EntailmentScores]:
        """Returns scores per pair, in the pairs' order. Raises EntailmentError."""
        ...

    async def aclose(self) -> None:
        """Closes connections and frees memory."""
        ...


def label_named(name: str) -> EntailmentLabel:
    """Returns the label for a model's own name. A model with two labels says entailment or not. Raises WrongLabels."""
    found = _NAMES.get(name.strip().lower().replace(" ", "_").replace("-", "_"))
    if found is None:
        raise WrongLabels(f"{name[:60]!r} is neither entailment, neutral nor contradiction")
    return found
