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
        self.optional, self.local = OptionalRedis(), LocalBuckets()
        self.refused = Counter(f"attractor_{name}_refused_total", "Requests over the limit", registry=registry)
        self.counted_here = Counter(
            f"attractor_{name}_counted_locally_total",
            "Requests that this replica counted on its own because Redis did not answer",
            registry=registry,
        )

    async def take(self, holder: str, cost: int = 1, most: int | None = None) -> Allowance | None:
        """Takes tokens from the holder's bucket, at most its capacity. Returns None without a limit.

        `most` lowers what the bucket holds and regains per minute.
        """
        per_minute = min((one for one in (self.per_minute, most) if one), default=0)
        if per_minute == 0:
            return None
        capacity = min(self.capacity, most or self.capacity)
        taken, left, wait = await self._taken(holder, per_minute / 60, capacity, cost)
        if not taken:
            self.refused.inc()
        return Allowance(bool(taken), capacity, left, wait / 1000, (capacity - left) * 60 / per_minute)

    async def _taken(self, holder: str, per_second: float, capacity: int, cost: int) -> tuple[int, int, int]:
        keys, arguments = [f"gateway:{self.name}:{holder}"], [per_second, capacity, cost]
        try:
            answer: Any = await self.optional.ask(lambda: self.script(keys=keys, args=arguments))
        except RedisUnavailable as error:
            self.counted_here.inc()
            if error.__cause__:
                extra = {"limit": self.name, "error": repr(error.__cause__)}
                log.warning("Redis does not answer: this replica enforces rate limits on its own", extra=extra)
            return self.local.take(holder, per_second, capacity, cost)
        taken, left, wait = (int(value) for value in answer)
        return taken, left, wait
