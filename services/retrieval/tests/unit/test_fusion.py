from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.retrieval import SearchMode
from inference.embeddings import BUNDLED_SPACE
from relevance.bm25 import QueryWord, idf, weighted
from retrieval.ranking.answerability import GOOD, match
from retrieval.ranking.features import Feature, Registry
from retrieval.ranking.fusion import (
    convex,
    of_wordings,
    reciprocal_ranks,
    reduced,
    scaled,
    title_named,
    weighted_sum,
)
from retrieval.tuning.tuning import StoredSettings, Tuning

FEATURES = [Feature("cosine", 1.0, elsewhere=0.3), Feature("bm25_share", 0.3), Feature("soft_match", 0.4)]
REGISTRY = Registry([*FEATURES, Feature("graph", 0.5, factor=True)], {"lexical": 1.0, "dense": 1.0})
VALUES = st.fixed_dictionaries(
    {"cosine": st.floats(-1, 1), "bm25_share": st.floats(0, 1), "soft_match": st.floats(0, 1)}
)
SCORE = st.one_of(st.floats(-5, 5, allow_subnormal=False), st.just(np.nan))
SCORES = st.lists(SCORE, max_size=20).map(np.array)
NOTHING_STORED = StoredSettings(None, None, None, None, None, None, 0, None, None, None, None, None)


def columns(*hits):
    return {name: np.array([hit.get(name, np.nan) for hit in hits]) for name in ("cosine", "bm25_share", "soft_match")}


@given(VALUES, st.floats(0, 0.5), st.sampled_from([None, ("another", 768)]))
def test_raising_any_feature_never_lowers_the_score(values, more, space):
    weights = REGISTRY.default_weights(space).weights
    for name, value in values.items():
        better = {**values, name: value + more}
        worse, best = weighted_sum(FEATURES, weights, columns(values, better), 2)
        assert best >= worse
        for words, vectors in ((True, True), (True, False), (False, True)):
            known = {"words": words, "vectors": vectors}
            assert match(columns(better), **known) >= match(columns(values), **known)
            assert match(columns(values, better), **known) >= match(columns(values), **known)


def test_the_fused_score_is_the_weighted_sum_of_all_features_except_factors():
    weights = {one.name: 10.0**place for place, one in enumerate(REGISTRY.features)}
    every = {one.name: np.ones(1) for one in REGISTRY.features}
    assert weighted_sum(REGISTRY.features, weights, every, 1) == pytest.approx([111])
    assert weighted_sum(REGISTRY.features, weights, {"cosine": np.array([np.nan])}, 1) == [0]


def test_a_factor_reduces_the_score_of_what_only_its_leg_found_by_all_of_it():
    near, found_otherwise = np.array([1 / 1.3, 1 / 1.3, np.nan]), np.array([True, False, False])
    reached = reduced(np.full(3, 0.8), near, 0.5, found_otherwise)
    assert reached == pytest.approx([0.4 + 0.4 / 1.3, 0.8 / 1.3, 0.8])


def test_rrf_adds_the_contribution_of_each_ranking():
    scores = reciprocal_ranks([(1.0, np.array([0, 1])), (0.5, np.array([1, 2]))], 4)
    assert scores == pytest.approx([1 / 61, 1 / 62 + 0.5 / 61, 0.5 / 62, np.nan], nan_ok=True)
    assert reciprocal_ranks([(1.0, np.array([0]))], 1, k=1) == [0.5]


@given(st.lists(st.integers(0, 50), unique=True))
def test_rrf_keeps_the_order_of_a_single_ranking(ranking):
    scores = reciprocal_ranks([(1.0, np.array(ranking, np.intp))], 51)
    assert set(np.flatnonzero(~np.isnan(scores)).tolist()) == set(ranking)
    assert sorted(ranking, key=lambda one: -scores[one]) == ranking


@given(SCORES, st.data())
def test_scaled_scores_keep_their_order_and_lie_between_zero_and_one(scores, data):
    found = data.draw(st.lists(st.sampled_from(range(len(scores))), unique=True)) if len(scores) else []
    between = scaled(scores, np.array(found, np.intp))
    known = np.flatnonzero(~np.isnan(scores)).tolist()
    assert np.flatnonzero(~np.isnan(between)).tolist() == known
    assert all(0 <= between[one] <= 1 for one in known)
    for one in known:
        assert all(between[one] >= between[other] for other in known if scores[one] >= scores[other])


def test_scores_beyond_the_range_of_a_leg_are_clipped():
    assert scaled(np.array([5.0, 3.0, 1.0, 0.0]), np.array([0, 1, 2])).tolist() == [1.0, 0.5, 0.0, 0.0]
    assert scaled(np.array([5.0, 3.0]), np.array([0])).tolist() == [1.0, 0.0]


def test_convex_fusion_is_the_weighted_mean():
    legs = [(3.0, np.array([1.0, 0.5, np.nan])), (1.0, np.array([np.nan, 1.0, np.nan])), (0.0, np.ones(3))]
    assert convex(legs, 3) == pytest.approx([0.75, 0.625, np.nan], nan_ok=True)


@given(
    st.integers(0, 9).flatmap(
        lambda count: st.lists(st.lists(SCORE, min_size=count, max_size=count), min_size=1, max_size=4)
    )
)
def test_the_query_weighs_at_least_as_much_as_all_its_rewordings(rows):
    scores = [np.array(row, float) for row in rows]
    fused, every = of_wordings(scores), np.array(rows, float)
    assert np.array_equal(np.isnan(fused), np.isnan(every).all(axis=0))
    assert np.array_equal(of_wordings([scores[0], *scores[:0:-1]]), fused, equal_nan=True)
    for place in np.flatnonzero(~np.isnan(fused)).tolist():
        assert fused[place] >= np.nan_to_num(every[:, place]).min()


def test_title_match_is_the_matched_share_of_the_title():
    assert title_named(["auth", "design"], {"auth": 1.0, "token": 2.0}) == pytest.approx(1 / 2.5)
    assert title_named(["auth"], {"auth": 1.0}) == 1.0
    assert title_named([], {"auth": 1.0}) == 0.0
    assert title_named(["auth"], {}) == 0.0


@given(st.integers(0, 1000), st.data())
def test_idf_falls_with_frequency_and_stays_positive(chunks, data):
    frequency = data.draw(st.integers(0, chunks))
    assert idf(chunks, frequency) > 0
    if frequency:
        assert idf(chunks, frequency) < idf(chunks, frequency - 1)


def test_a_query_without_words_has_no_matched_share():
    query = weighted([], {}, 0, 0)
    assert (query.share(0.0), query.weights) == (0.0, {})


def test_a_matched_share_is_relative_to_the_weight_of_the_query():
    query = weighted([QueryWord({"a": 1.0}), QueryWord({"b": 1.0})], {"a": 3}, 10, 1000)
    assert query.share(query.mass) == 1


def test_a_match_requires_semantic_or_lexical_similarity():
    both, words, vectors = (
        {"words": True, "vectors": True},
        {"words": True, "vectors": False},
        {"words": False, "vectors": True},
    )
    assert match(columns({"cosine": 0.6, "soft_match": 0.7}), **both) > GOOD
    assert match(columns({"cosine": 0.2}, {"bm25_share": 0.6, "soft_match": 0.9}), **both) > GOOD
    assert match(columns({"cosine": 0.25, "bm25_share": 0.1, "soft_match": 0.4}), **both) < GOOD
    assert match(columns({"bm25_share": 0.5, "soft_match": 0.8}), **words) > GOOD
    assert match(columns({"bm25_share": 0.1, "soft_match": 0.4}), **words) < GOOD
    assert match(columns({"cosine": 0.6}), **vectors) > GOOD
    assert match(columns(), **both) == 0
    assert match(columns({"cosine": 1.0}), words=False, vectors=False) == 0


def test_cosines_of_an_unknown_model_are_rescaled():
    bundled = REGISTRY.default_weights((BUNDLED_SPACE.model, BUNDLED_SPACE.dims))
    assert (bundled.scaled, bundled.weights["cosine"]) == (False, 1.0)
    other = REGISTRY.default_weights(("another", 768))
    assert (other.scaled, other.weights["cosine"], other.weights["soft_match"]) == (True, 0.3, 0.4)


def test_a_request_overrides_the_mode_of_the_workspace():
    tuning = Tuning.of(NOTHING_STORED, REGISTRY)
    assert tuning.rule_for(None) == tuning.rule
    assert tuning.rule_for(SearchMode.rrf) == replace(tuning.rule, mode=SearchMode.rrf)


def test_stored_weights_of_features_that_are_gone_are_ignored_and_new_features_have_their_defaults():
    stored = replace(NOTHING_STORED, weights={"cosine": 2.0, "gone": 1.0}, legs={"dense": 0.1, "gone": 1.0})
    rule = Tuning.of(stored, REGISTRY).rule
    assert rule.space.weights == {"cosine": 2.0, "bm25_share": 0.3, "soft_match": 0.4, "graph": 0.5}
    assert rule.legs == {"lexical": 1.0, "dense": 0.1}
