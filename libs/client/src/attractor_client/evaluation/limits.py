"""Conditions for an evaluation to count as a success. No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attractor_client.evaluation.comparison import VISIBLE, Comparison
from attractor_client.evaluation.results import Evaluation


@dataclass(frozen=True)
class Floor:
    """The lowest acceptable mean of a metric; `mode` None is the evaluation's first."""

    mode: str | None
    metric: str
    value: float


def read_floor(text: str) -> Floor:
    """Parses `METRIC=VALUE` or `MODE:METRIC=VALUE`; raises ValueError."""
    name, equals, value = text.partition("=")
    mode, colon, metric = name.rpartition(":")
    if not (equals and metric):
        raise ValueError(f"{text!r} must have the form METRIC=VALUE or MODE:METRIC=VALUE")
    try:
        return Floor(mode if colon else None, metric, float(value))
    except ValueError:
        raise ValueError(f"{value!r} in {text!r} is not a number") from None


def below(evaluation: Evaluation, floors: Sequence[Floor]) -> list[str]:
    """Returns a sentence for each floor that is not reached."""
    reasons = []
    for floor in floors:
        mode = floor.mode or evaluation.modes[0]
        value = evaluation.summary(mode).metrics[floor.metric]
        if value < floor.value - VISIBLE:
            reasons.append(f"{floor.metric} of {mode} is {value:.4f}, below {floor.value:g}")
    return reasons


def worse(comparison: Comparison, tolerance: float) -> list[str]:
    """Returns a sentence for each mode whose compared metric fell by more than `tolerance`."""
    return [
        f"{one.metric} of {one.mode} fell by {-one.delta:.4f}, more than {tolerance:g}"
        for one in comparison.changes
        if one.metric == comparison.metric and one.delta < -tolerance - VISIBLE
    ]
