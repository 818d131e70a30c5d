"""Token buckets of this process, used while Redis does not answer. Without IO."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

MOST_HOLDERS = 20_000


class LocalBuckets:
    """Works like token_bucket.lua. Beyond MOST_HOLDERS, the least recently used bucket is dropped."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.now = now
        self.buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, holder: str, per_second: float, capacity: int, cost: int) -> tuple[int, int, int]:
        """Returns 1 if the tokens were taken, else 0; the tokens left; the milliseconds until there are enough."""
        now, need = self.now(), min(cost, capacity)
        tokens, at = self.buckets.get(holder, (float(capacity), now))
        tokens = min(capacity, tokens + (now - at) * per_second)
        taken = int(tokens >= need)
        tokens -= need * taken
        self.buckets[holder] = tokens, now
        self.buckets.move_to_end(holder)
        if len(self.buckets) > MOST_HOLDERS:
            self.buckets.popitem(last=False)
        return taken, math.floor(tokens), math.ceil(1000 * max(0.0, need - tokens) / per_second)
