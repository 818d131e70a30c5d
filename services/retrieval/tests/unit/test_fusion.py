from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.ranking.fusion import Features, absolute, is_good_match, reciprocal_ranks, title_named

SHARE = st.floats(0, 1)
FEATURES = st.builds(Features, cosine=st.floats(-1, 1), bm25_share=SHARE, title_named=SHARE, all_terms=SHARE)


@given(FEATURES, st.floats(0, 0.5))
def test_more_of_any_feature_is_never_worse(features, more):
    for name, value in features.as_dict().items():
        better = Features(**{**features.as_dict(), name: value + more})
        assert absolute(better) >= absolute(features)
        assert is_good_match(better, dense=True) >= is_good_match(features, dense=True)


def test_reciprocal_ranks_adds_what_each_ranking_gives():
    scores = reciprocal_ranks([[1, 2], [2, 3]])
    assert scores == pytest.approx({1: 1 / 61, 2: 1 / 62 + 1 / 61, 3: 1 / 62})


@given(st.lists(st.lists(st.integers(0, 50), unique=True), max_size=3))
def test_reciprocal_ranks_keeps_the_order_of_a_single_ranking(rankings):
    scores = reciprocal_ranks(rankings)
    assert set(scores) == {one for ranking in rankings for one in ranking}
    if len(rankings) == 1:
        assert sorted(scores, key=lambda one: -scores[one]) == rankings[0]


def test_title_named_is_the_share_of_the_title():
    assert title_named(["auth", "design"], {"auth": 1.0, "token": 2.0}) == 0.5
    assert title_named([], {"auth": 1.0}) == 0.0


def test_good_match_needs_meaning_or_words():
    assert is_good_match(Features(cosine=0.6), dense=True)
    assert is_good_match(Features(cosine=0.25, bm25_share=0.6), dense=True)
    assert not is_good_match(Features(cosine=0.3, bm25_share=0.1), dense=True)
    assert is_good_match(Features(bm25_share=0.5), dense=False)
    assert not is_good_match(Features(bm25_share=0.1), dense=False)
