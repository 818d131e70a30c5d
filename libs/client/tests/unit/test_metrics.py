"""Measures against values computed by hand, and the permutation test."""

from __future__ import annotations

import math
from itertools import product

import pytest

from attractor_client.evaluation.metrics import means, measure, metric_names, percentile
from attractor_client.evaluation.significance import permutation_test


def test_graded_results_are_discounted_by_rank() -> None:
    # Gains 7, 0, 1 and 1 of the ideal 7, 1, 1, 1, discounted by 1, log2 3, 2 and log2 5.
    values = measure([3, 0, 1, 1], [1, 3, 1, 1], 10)
    gained = 7 + 1 / 2 + 1 / math.log2(5)
    ideal = 7 + 1 / math.log2(3) + 1 / 2 + 1 / math.log2(5)
    assert values["ndcg@10"] == pytest.approx(gained / ideal)
    assert values["recall@10"] == 3 / 4
    assert (values["mrr@10"], values["hit_rate@10"], values["success@1"]) == (1, 1, 1)


def test_the_reciprocal_rank_of_a_first_hit_at_rank_three() -> None:
    values = measure([0, 0, 1], [1], 10)
    assert values == {
        "ndcg@10": 0.5,
        "recall@5": 1.0,
        "recall@10": 1.0,
        "mrr@10": pytest.approx(1 / 3),
        "hit_rate@10": 1.0,
        "success@1": 0.0,
    }


def test_results_beyond_k_do_not_count() -> None:
    values = measure([0, 0, 1], [1, 1], 2)
    assert set(values.values()) == {0.0}
    assert list(values) == metric_names(2) == ["ndcg@2", "recall@2", "mrr@2", "hit_rate@2", "success@1"]


def test_recall_at_five_is_reported_beside_recall_at_k() -> None:
    values = measure([0, 0, 0, 0, 1, 1], [1, 1], 10)
    assert (values["recall@5"], values["recall@10"]) == (0.5, 1.0)


def test_ndcg_can_be_perfect_with_more_expected_results_than_k() -> None:
    values = measure([1] * 5, [1] * 20, 5)
    assert (values["ndcg@5"], values["recall@5"]) == (1.0, 0.25)


def test_metrics_are_defined_when_nothing_is_found_or_expected() -> None:
    assert set(measure([], [1], 10).values()) == {0.0}
    with pytest.raises(ValueError, match="cannot be measured"):
        measure([1], [], 10)


def test_means_and_percentiles_are_computed() -> None:
    assert means([{"a": 1.0}, {"a": 0.0}]) == {"a": 0.5}
    assert means([]) == {}
    assert [percentile([4, 1, 3, 2], share) for share in (0.25, 0.5, 0.95, 1.0)] == [1, 2, 4, 4]
    assert percentile([], 0.5) == 0


class TestPermutationTest:
    def test_few_differences_are_tested_exactly(self) -> None:
        differences = [0.5, 0.25, -0.1, 0.3, 0.0]
        patterns = [sum(sign * one for sign, one in zip(signs, differences[:4], strict=True))
                    for signs in product((1, -1), repeat=4)]  # fmt: skip
        expected = sum(abs(one) >= 0.95 - 1e-9 for one in patterns) / 16
        assert permutation_test(differences) == expected

    def test_five_better_and_none_worse_has_its_exact_p_value(self) -> None:
        assert permutation_test([0.1] * 5) == 2 / 32

    def test_no_difference_has_a_p_value_of_one(self) -> None:
        assert permutation_test([]) == permutation_test([0.0] * 50) == 1

    def test_many_differences_are_tested_by_sampling(self) -> None:
        assert permutation_test([0.1] * 40) < 0.001
        assert permutation_test([0.1, -0.1] * 20) == 1
        slight = [0.1] * 22 + [-0.1] * 18
        assert permutation_test(slight) == pytest.approx(0.636, abs=0.02)  # two-sided binomial: 22 or more of 40
        assert permutation_test(slight) == permutation_test(slight)
