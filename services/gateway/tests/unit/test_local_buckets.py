from gateway.access import local_buckets
from gateway.access.local_buckets import LocalBuckets


class Clock:
    time = 100.0

    def __call__(self):
        return self.time


def test_a_bucket_holds_its_capacity_and_refills_over_time():
    clock = Clock()
    buckets = LocalBuckets(clock)
    assert [buckets.take("a", 2.0, 3, 1) for _ in range(4)] == [(1, 2, 0), (1, 1, 0), (1, 0, 500), (0, 0, 500)]
    assert buckets.take("b", 2.0, 3, 1)[0] == 1
    clock.time += 1.0
    assert buckets.take("a", 2.0, 3, 2)[0] == 1
    assert buckets.take("a", 2.0, 3, 1)[0] == 0


def test_a_cost_above_the_capacity_requires_a_full_bucket():
    clock = Clock()
    buckets = LocalBuckets(clock)
    assert buckets.take("a", 1.0, 3, 50) == (1, 0, 3000)
    clock.time += 2.9
    assert buckets.take("a", 1.0, 3, 50)[0] == 0
    clock.time += 0.2
    assert buckets.take("a", 1.0, 3, 50)[0] == 1


def test_a_flood_of_different_keys_does_not_fill_memory(monkeypatch):
    monkeypatch.setattr(local_buckets, "MOST_HOLDERS", 10)
    buckets = LocalBuckets(Clock())
    for number in range(100):
        buckets.take(str(number), 1.0, 3, 1)
    assert len(buckets.buckets) == 10
