"""The limits of one process, while Redis is away."""

from gateway.access.local_buckets import LocalBuckets


def test_a_bucket_is_emptied_at_once_and_fills_in_the_long_run():
    buckets = LocalBuckets(per_minute=60, capacity=2)
    assert [buckets.take("a", 0.0)[0] for _ in range(3)] == [True, True, False]
    assert buckets.take("b", 0.0)[:2] == (True, 1)
    taken, left, wait = buckets.take("a", 0.5)
    assert (taken, left, round(wait, 3)) == (False, 0, 0.5)
    assert buckets.take("a", 1.0)[0]


def test_who_comes_when_all_buckets_are_in_use_is_refused_until_one_is_full_again():
    buckets = LocalBuckets(per_minute=60, capacity=1, most=2)
    assert buckets.take("a", 0.0)[0]
    assert buckets.take("b", 0.5)[0]
    assert buckets.take("c", 0.9) == (False, 0, 1.0)
    assert buckets.take("c", 1.1)[0]
    assert set(buckets.buckets) == {"b", "c"}
