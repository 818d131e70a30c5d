"""Token buckets in Redis, shared by all replicas. While Redis does not answer, each replica has its own."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from importlib import resources
from typing import Any

from prometheus_client import CollectorRegistry, Counter
from redis.asyncio import Redis

from gateway.access.local_buckets import LocalBuckets
from service_kit.optional_redis import OptionalRedis, RedisUnavailable

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Allowance:
    """The tokens left in a bucket, and the seconds until the same cost is admitted and until the bucket is full."""

    allowed: bool
    limit: int
    remaining: int
    wait_seconds: float
    full_seconds: float

    @property
    def headers(self) -> dict[str, str]:
        """Returns the RateLimit fields of draft-ietf-httpapi-ratelimit-headers-07; on a refusal also Retry-After."""
        fields = {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(math.ceil(self.full_seconds)),
        }
        if not self.allowed:
            fields["Retry-After"] = str(max(1, math.ceil(self.wait_seconds)))
        return fields


class Buckets:
    """Holds up to `capacity` tokens per holder, refilled with `per_minute`; 0 per minute means no limit."""

    def __init__(self, redis: Redis, name: str, per_minute: int, capacity: int, registry: CollectorRegistry) -> None:
        self.redis, self.name, self.per_minute, self.capacity = redis, name, per_minute, capacity
        text = resources.files("gateway.access").joinpath("token_bucket.lua").read_text(encoding="utf-8")
        self.script = redis.register_script(text)
        self.optional, self.local = OptionalRedis(), LocalBuckets(per_minute / 60, capacity)
        self.refused = Counter(f"attractor_{name}_refused_total", "Requests over the limit", registry=registry)
        self.counted_here = Counter(
            f"attractor_{name}_counted_locally_total",
            "Requests that this replica counted on its own because Redis did not answer",
            registry=registry,
        )

    async def take(self, holder: str, cost: int = 1) -> Allowance | None:
        """Takes tokens from the holder's bucket, at most its capacity. Returns None without a limit."""
        if self.per_minute == 0:
            return None
        taken, left, wait = await self._taken(holder, cost)
        if not taken:
            self.refused.inc()
        full_seconds = (self.capacity - left) * 60 / self.per_minute
        return Allowance(bool(taken), self.capacity, left, wait / 1000, full_seconds)

    async def _taken(self, holder: str, cost: int) -> tuple[int, int, int]:
        keys, arguments = [f"gateway:{self.name}:{holder}"], [self.per_minute / 60, self.capacity, cost]
        try:
            answer: Any = await self.optional.ask(lambda: self.script(keys=keys, args=arguments))
        except RedisUnavailable as error:
            self.counted_here.inc()
            if error.__cause__:
                extra = {"limit": self.name, "error": repr(error.__cause__)}
                log.warning("Redis does not answer: this replica enforces rate limits on its own", extra=extra)
            return self.local.take(holder, cost)
        taken, left, wait = (int(value) for value in answer)
        return taken, left, wait
