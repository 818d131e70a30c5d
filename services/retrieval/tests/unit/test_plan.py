from __future__ import annotations

import math

import pytest

from retrieval.dense.plan import Sizes, candidates, choose, shared_vectors


def plan(matching, workspace=None, shared=0, always_exact=0, wanted=120, tuple_cost=20.0):
    return choose(Sizes(matching, workspace or matching, shared), wanted, tuple_cost, always_exact)


@pytest.mark.parametrize(
    ("sizes", "exact"),
    [
        ({"matching": 100, "shared": 1_000_000}, True),
        ({"matching": 100_000, "shared": 100_000}, False),
        ({"matching": 1_000_000, "shared": 1_000_000}, False),
        # a small workspace among a million vectors of others
        ({"matching": 5_000, "shared": 1_000_000}, True),
        ({"matching": 20_000, "shared": 1_000_000}, True),
        ({"matching": 500_000, "shared": 1_000_000}, False),
        # a filter that few documents of a large workspace pass
        ({"matching": 1_000, "workspace": 1_000_000, "shared": 1_000_000}, True),
        ({"matching": 300_000, "workspace": 1_000_000, "shared": 1_000_000}, False),
        # the index does not exist, or its size lags behind
        ({"matching": 100_000, "shared": 0}, True),
        ({"matching": 100_000, "shared": 10}, False),
    ],
)
def test_the_cheaper_scan_is_chosen(sizes, exact):
    assert plan(**sizes).exact is exact


def test_few_vectors_are_always_compared_exactly():
    assert plan(5_000, shared=5_000, always_exact=5_000).exact
    assert not plan(5_001, shared=5_001, always_exact=5_000).exact


def test_the_approximate_scan_stops_where_an_exact_scan_would_have_cost_as_much():
    assert plan(100_000, shared=100_000).most_compared == 8 * 5_000


def test_a_larger_index_gets_more_candidates():
    assert plan(80_000, shared=80_000).candidates == 120
    assert plan(200_000, shared=400_000).candidates == 694
    assert plan(400_000, shared=400_000).at_least == 0


def test_the_approximate_scan_continues_if_the_server_limit_is_too_low():
    large = plan(7_000_000, shared=10_000_000)
    assert 3_000 < large.at_least < 5_000
    filtered = plan(40_000, workspace=100_000, shared=100_000, wanted=500)
    assert filtered.candidates == 1_000
    assert filtered.at_least == 0


@pytest.mark.parametrize("share", [1.0, 0.7, 0.5])
@pytest.mark.parametrize("shared", [300_000, 700_000, 1_000_000])
def test_no_batch_of_the_scan_is_visited_for_a_few_entries_only(shared, share):
    own = candidates(240, shared)
    found = plan(round(share * shared), shared=shared, wanted=240)
    if not found.at_least:
        assert found.candidates == round(own / share) <= 1_000
        return
    batches = math.ceil(own / share / 1_000)
    assert found.candidates * batches == pytest.approx(own / share, abs=batches)
    # The scan ends within the last batch, even if a twentieth more or fewer match than expected.
    for matching in (0.95 * share, 1.05 * share):
        read = found.at_least / matching
        assert (batches - 1) * found.candidates < read < batches * found.candidates


def test_the_plan_states_its_reason():
    assert plan(812).why == "812 chunks; there is no approximate index"
    assert plan(812, workspace=9_000, shared=50_000).why.startswith(
        "812 chunks of the filter, of 9000; hnsw would visit"
    )


def test_the_number_of_vectors_is_estimated_from_the_index_size():
    assert shared_vectors(104_775_680, 384) == pytest.approx(100_000, rel=0.02)
