"""Token buckets of one process, for as long as Redis does not answer."""

from __future__ import annotations

from dataclasses import dataclass

MOST_HOLDERS = 10_000


@dataclass
class Bucket:
    tokens: float
    at: float


class LocalBuckets:
    """Keeps at most MOST_HOLDERS buckets; when all of them are in use, a new holder is refused."""

    def __init__(self, per_minute: int, capacity: int, most: int = MOST_HOLDERS) -> None:
        self.per_second, self.capacity, self.most = per_minute / 60, capacity, most
        self.buckets: dict[str, Bucket] = {}

    def take(self, holder: str, now: float) -> tuple[bool, int, float]:
        """Returns whether a token was taken, how many are left, and the seconds until the next one.

        `now` is in seconds, of a clock that never goes back.
        """
        bucket = self.buckets.get(holder)
        if bucket is None:
            self._make_room(now)
            if len(self.buckets) >= self.most:
                return False, 0, 1 / self.per_second
            bucket = self.buckets[holder] = Bucket(self.capacity, now)
        bucket.tokens, bucket.at = self._tokens(bucket, now), now
        taken = bucket.tokens >= 1
        if taken:
            bucket.tokens -= 1
        return taken, int(bucket.tokens), max(0.0, 1 - bucket.tokens) / self.per_second

    def _tokens(self, bucket: Bucket, now: float) -> float:
        return min(float(self.capacity), bucket.tokens + (now - bucket.at) * self.per_second)

    def _make_room(self, now: float) -> None:
        """Forgets full buckets, which are like new ones, when there are too many."""
        if len(self.buckets) >= self.most:
            kept = {holder: one for holder, one in self.buckets.items() if self._tokens(one, now) < self.capacity}
            self.buckets = kept
