"""Compares two evaluations over the same questions. No I/O."""

from __future__ import annotations

import math
from enum import StrEnum

from pydantic import BaseModel

from attractor_client.evaluation.results import Evaluation, QuestionResult
from attractor_client.evaluation.significance import permutation_test

VISIBLE = 1e-9
SIGNIFICANT = 0.05


class Verdict(StrEnum):
    """`same`: there is no difference, or chance explains it (p above .05)."""

    better = "better"
    worse = "worse"
    same = "same"


class Change(BaseModel):
    """A measure before and after, over the common questions; `p` is from the two-sided paired permutation test."""

    mode: str
    metric: str
    before: float
    after: float
    p: float
    better: int
    worse: int

    @property
    def delta(self) -> float:
        return self.after - self.before

    @property
    def verdict(self) -> Verdict:
        if self.p > SIGNIFICANT or abs(self.delta) < VISIBLE:
            return Verdict.same
        return Verdict.better if self.delta > 0 else Verdict.worse


class ChangedQuestion(BaseModel):
    id: str
    text: str
    before: float
    after: float

    @property
    def delta(self) -> float:
        return self.after - self.before


def signed(value: float) -> str:
    """Formats a difference with its sign and four digits; `0` if nothing changed."""
    return f"{value:+.4f}" if abs(value) > VISIBLE else "0"


class Comparison(BaseModel):
    """`changed`: the questions whose `metric` in `mode` differs, largest difference first."""

    baseline: str
    questions: int
    only_before: int
    only_after: int
    changes: list[Change]
    mode: str
    metric: str
    changed: list[ChangedQuestion]


def compare(before: Evaluation, after: Evaluation, metric: str) -> Comparison:
    """Compares the questions with the same id and wording, in the modes and measures that both evaluations have.

    Raises ValueError if there are none.
    """
    earlier = {(one.id, one.text): one for one in before.questions}
    pairs = [(earlier[one.id, one.text], one) for one in after.questions if (one.id, one.text) in earlier]
    modes = [mode for mode in after.modes if mode in before.modes]
    if not pairs or not modes:
        raise ValueError(f"nothing to compare: no common {'mode' if pairs else 'question'}")
    changes = [_change(pairs, mode, name) for mode in modes for name in _common(pairs, mode)]
    if not any(change.metric == metric for change in changes):
        raise ValueError(f"nothing to compare: {metric} is not a measure of both")
    return Comparison(
        baseline=f"{before.dataset}, {before.at:%Y-%m-%d %H:%M}",
        questions=len(pairs),
        only_before=len(before.questions) - len(pairs),
        only_after=len(after.questions) - len(pairs),
        changes=changes,
        mode=modes[0],
        metric=metric,
        changed=_changed(pairs, modes[0], metric),
    )


Pair = tuple[QuestionResult, QuestionResult]


def _common(pairs: list[Pair], mode: str) -> list[str]:
    before, after = pairs[0]
    return [name for name in after.answers[mode].metrics if name in before.answers[mode].metrics]


def _change(pairs: list[Pair], mode: str, metric: str) -> Change:
    values = [(before.answers[mode].metrics[metric], after.answers[mode].metrics[metric]) for before, after in pairs]
    differences = [after - before for before, after in values]
    return Change(
        mode=mode,
        metric=metric,
        before=math.fsum(before for before, _ in values) / len(values),
        after=math.fsum(after for _, after in values) / len(values),
        p=permutation_test(differences),
        better=sum(one > VISIBLE for one in differences),
        worse=sum(one < -VISIBLE for one in differences),
    )


def _changed(pairs: list[Pair], mode: str, metric: str) -> list[ChangedQuestion]:
    found = [
        ChangedQuestion(
            id=after.id,
            text=after.text,
            before=before.answers[mode].metrics[metric],
            after=after.answers[mode].metrics[metric],
        )
        for before, after in pairs
    ]
    return sorted((one for one in found if abs(one.delta) > VISIBLE), key=lambda one: (-abs(one.delta), one.delta))
