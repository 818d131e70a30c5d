from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.retrieval import FusionWeights, SearchMode
from inference.embeddings import BUNDLED_SPACE
from relevance.bm25 import QueryWord, idf, weighted
from retrieval.ranking.answerability import GOOD, match
from retrieval.ranking.fusion import (
    FEATURES,
    Features,
    Weights,
    absolute,
    convex,
    of_wordings,
    reciprocal_ranks,
    scaled,
    title_named,
)
from retrieval.ranking.weights import BUNDLED, UNKNOWN, default_weights
from retrieval.tuning.tuning import StoredSettings, Tuning, reweighted

SHARE = st.floats(0, 1)
FEATURE_VALUES = st.builds(
    Features, cosine=st.floats(-1, 1), **dict.fromkeys((name for name in FEATURES if name != "cosine"), SHARE)
)
SCORES = st.dictionaries(st.integers(0, 50), st.floats(-5, 5, allow_subnormal=False), max_size=20)
NOTHING_STORED = StoredSettings(None, None, None, None, None, None, 0, None, None, None, None, None)


@given(FEATURE_VALUES, st.floats(0, 0.5), st.sampled_from([BUNDLED, UNKNOWN]))
def test_raising_any_feature_never_lowers_the_score(features, more, space):
    for name, value in features.as_dict().items():
        better = Features(**{**features.as_dict(), name: value + more})
        assert absolute(better, space.weights) >= absolute(features, space.weights)
        for words, vectors in ((True, True), (True, False), (False, True)):
            known = {"words": words, "vectors": vectors}
            assert match([better], **known) >= match([features], **known)
            assert match([features, better], **known) >= match([features], **known)


def test_the_fused_score_is_the_weighted_sum_of_all_features_except_hops():
    weights = Weights(**{name: 10.0**place for place, name in enumerate(FEATURES)})
    every = Features(**dict.fromkeys(FEATURES, 1.0))
    assert FEATURES[-1] == "graph"
    assert absolute(every, weights) == pytest.approx(int("1" * (len(FEATURES) - 1)))


def test_rrf_adds_the_contribution_of_each_ranking():
    scores = reciprocal_ranks([(1.0, [1, 2]), (0.5, [2, 3])])
    assert scores == pytest.approx({1: 1 / 61, 2: 1 / 62 + 0.5 / 61, 3: 0.5 / 62})
    assert reciprocal_ranks([(1.0, [7])], k=1) == {7: 0.5}


@given(st.lists(st.lists(st.integers(0, 50), unique=True), max_size=3))
def test_rrf_keeps_the_order_of_a_single_ranking(rankings):
    scores = reciprocal_ranks([(1.0, ranking) for ranking in rankings])
    assert set(scores) == {one for ranking in rankings for one in ranking}
    if len(rankings) == 1:
        assert sorted(scores, key=lambda one: -scores[one]) == rankings[0]


@given(SCORES, st.data())
def test_scaled_scores_keep_their_order_and_lie_between_zero_and_one(scores, data):
    found = data.draw(st.lists(st.sampled_from(sorted(scores)), unique=True)) if scores else []
    between = scaled(scores, found)
    assert set(between) == set(scores)
    assert all(0 <= score <= 1 for score in between.values())
    for one in scores:
        assert all(between[one] >= between[other] for other in scores if scores[one] >= scores[other])


def test_scores_beyond_the_range_of_a_leg_are_clipped():
    assert scaled({1: 5.0, 2: 3.0, 3: 1.0, 4: 0.0}, [1, 2, 3]) == {1: 1.0, 2: 0.5, 3: 0.0, 4: 0.0}
    assert scaled({1: 5.0, 2: 3.0}, [1]) == {1: 1.0, 2: 0.0}


def test_convex_fusion_is_the_weighted_mean():
    assert convex([(3.0, {1: 1.0, 2: 0.5}), (1.0, {2: 1.0}), (0.0, {9: 1.0})]) == pytest.approx({1: 0.75, 2: 0.625})


@given(SCORES, st.lists(SCORES, max_size=3))
def test_the_query_weighs_at_least_as_much_as_all_its_rewordings(main, further):
    fused = of_wordings(main, further)
    assert set(fused) == set().union(main, *further)
    if not further:
        assert fused == main
    assert of_wordings(main, further[::-1]) == fused
    for one, score in fused.items():
        assert score >= min(main.get(one, 0.0), *[scores.get(one, 0.0) for scores in [main, *further]])


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
    assert match([Features(cosine=0.6, soft_match=0.7)], words=True, vectors=True) > GOOD
    assert match([Features(cosine=0.2), Features(bm25_share=0.6, soft_match=0.9)], words=True, vectors=True) > GOOD
    assert match([Features(cosine=0.25, bm25_share=0.1, soft_match=0.4)], words=True, vectors=True) < GOOD
    assert match([Features(bm25_share=0.5, soft_match=0.8)], words=True, vectors=False) > GOOD
    assert match([Features(bm25_share=0.1, soft_match=0.4)], words=True, vectors=False) < GOOD
    assert match([Features(cosine=0.6)], words=False, vectors=True) > GOOD
    assert match([], words=True, vectors=True) == 0
    assert match([Features(cosine=1.0)], words=False, vectors=False) == 0


def test_cosines_of_an_unknown_model_are_rescaled():
    assert default_weights((BUNDLED_SPACE.model, BUNDLED_SPACE.dims)) is BUNDLED
    assert default_weights(("another", 768)).scaled


def test_a_request_overrides_the_mode_of_the_workspace():
    tuning = Tuning.of(NOTHING_STORED)
    assert tuning.asked(None) == tuning.rule
    assert tuning.asked(SearchMode.rrf) == replace(tuning.rule, mode=SearchMode.rrf)


def test_unspecified_weights_keep_their_values():
    weights = reweighted(BUNDLED, FusionWeights(cosine=2.0)).weights
    assert (weights.cosine, weights.bm25_share) == (2.0, BUNDLED.weights.bm25_share)
