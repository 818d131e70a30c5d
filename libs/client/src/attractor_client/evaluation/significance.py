"""Tests whether a difference of means over the same questions can be chance. No I/O."""

from __future__ import annotations

import random
from collections.abc import Sequence

SAMPLES = 10_000
EXACT_UP_TO = 13  # non-zero differences: 2^13 sign patterns are fewer than the samples
EQUAL = 1e-12  # sums of the same numbers in a different order differ by less


def permutation_test(differences: Sequence[float], seed: int = 1) -> float:
    """Returns the two-sided p-value of the paired randomisation test (Fisher 1935; Smucker et al. 2007).

    It is the share of random sign patterns for which the mean difference is at least as far from 0: exact for few
    differences, otherwise estimated from 10,000 samples.
    """
    changed = [one for one in differences if abs(one) > EQUAL]
    if not changed:
        return 1.0
    observed = abs(sum(changed)) - EQUAL * len(changed)
    if len(changed) <= EXACT_UP_TO:
        patterns = range(2 ** len(changed))
        extreme = sum(abs(_signed(changed, pattern)) >= observed for pattern in patterns)
        return extreme / len(patterns)
    # A random byte chooses the signs of eight differences at once.
    tables = [[_signed(part, pattern) for pattern in range(256)] for part in _eights(changed)]
    dice = random.Random(seed)  # noqa: S311  repeatable
    extreme = 0
    for _ in range(SAMPLES):
        chosen = dice.randbytes(len(tables))
        extreme += abs(sum(table[byte] for table, byte in zip(tables, chosen, strict=True))) >= observed
    return (extreme + 1) / (SAMPLES + 1)


def _signed(values: Sequence[float], pattern: int) -> float:
    return sum(value if pattern >> place & 1 else -value for place, value in enumerate(values))


def _eights(values: Sequence[float]) -> list[Sequence[float]]:
    return [values[start : start + 8] for start in range(0, len(values), 8)]
