from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from retrieval.ranking.diversity import capped, diversified

VECTORS = {
    1: np.array([1, 0], np.float32),
    2: np.array([1, 0], np.float32),
    3: np.array([0, 1], np.float32),
}
SCORES = {1: 0.9, 2: 0.8, 3: 0.5}


def test_the_number_of_hits_per_document_is_limited() -> None:
    documents = {1: "a", 2: "a", 3: "b", 4: "a", 5: "b"}
    assert capped([1, 2, 3, 4, 5], documents, 1) == [1, 3]
    assert capped([1, 2, 3, 4, 5], documents, 2) == [1, 2, 3, 5]


def test_novel_content_ranks_above_repeated_content() -> None:
    assert diversified([1, 2, 3], SCORES, VECTORS, 0.0, 3) == [1, 2, 3]
    assert diversified([1, 2, 3], SCORES, VECTORS, 0.6, 3) == [1, 3, 2]
    assert diversified([1, 2, 3], SCORES, VECTORS, 0.1, 2) == [1, 2]


def test_without_vectors_the_order_follows_relevance() -> None:
    assert diversified([1, 2, 3], SCORES, {}, 0.7, 3) == [1, 2, 3]
    assert diversified([2, 1], dict.fromkeys([1, 2], 0.5), {}, 1.0, 2) == [2, 1]


@given(
    st.lists(st.floats(-1, 1), min_size=1, max_size=30), st.floats(0, 1), st.integers(1, 40), st.integers(0, 2**32 - 1)
)
def test_diversity_returns_k_different_candidates(scores: list[float], diversity: float, k: int, seed: int) -> None:
    order = sorted(range(len(scores)), key=lambda chunk: -scores[chunk])
    rows = np.random.default_rng(seed).normal(size=(len(scores), 4)).astype(np.float32)
    vectors = dict(enumerate(rows / np.linalg.norm(rows, axis=1, keepdims=True)))
    found = diversified(order, dict(enumerate(scores)), vectors, diversity, k)
    assert len(found) == len(set(found)) == min(k, len(scores))
