"""Token buckets in Redis, shared by all replicas. While Redis does not answer, each process counts alone."""

from __future__ import annotations

import asyncio
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
    """What is left in a bucket, and the seconds until the next request is admitted and until the bucket is full."""

    allowed: bool
    limit: int
    remaining: int
    wait_seconds: float
    full_seconds: float

    @property
    def headers(self) -> dict[str, str]:
        """The RateLimit fields of draft-ietf-httpapi-ratelimit-headers-07, and Retry-After (RFC 9110) on a refusal."""
        fields = {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(math.ceil(self.full_seconds)),
        }
        if not self.allowed:
            fields["Retry-After"] = str(max(1, math.ceil(self.wait_seconds)))
        return fields


class Buckets:
    """Admits `capacity` requests at once and `per_minute` of them in the long run; 0 per minute means no limit."""

    def __init__(self, redis: Redis, name: str, per_minute: int, capacity: int, registry: CollectorRegistry) -> None:
        self.redis, self.name, self.per_minute, self.capacity = redis, name, per_minute, capacity
        text = resources.files("gateway.access").joinpath("token_bucket.lua").read_text(encoding="utf-8")
        self.script = redis.register_script(text)
        self.optional = OptionalRedis()
        self.refused = Counter(f"attractor_{name}_refused_total", "Requests over the limit", registry=registry)
        self.alone = Counter(
            f"attractor_{name}_counted_alone_total",
            "Requests that this process counted alone, as Redis did not answer",
            registry=registry,
        )
        self.local = LocalBuckets(per_minute, capacity)

    async def take(self, holder: str) -> Allowance | None:
        """Takes a token from the holder's bucket. Returns None without a limit."""
        if self.per_minute == 0:
            return None
        taken, left, wait_seconds = await self._take(holder)
        if not taken:
            self.refused.inc()
        full_seconds = (self.capacity - left) * 60 / self.per_minute
        return Allowance(taken, self.capacity, left, wait_seconds, full_seconds)

    async def _take(self, holder: str) -> tuple[bool, int, float]:
        keys, arguments = [f"gateway:{self.name}:{holder}"], [self.per_minute / 60, self.capacity]
        try:
            answer: Any = await self.optional.ask(lambda: self.script(keys=keys, args=arguments))
        except RedisUnavailable as error:
            self.alone.inc()
            if error.__cause__:
                extra = {"limit": self.name, "error": repr(error.__cause__)}
                log.warning("each process enforces rate limits alone: Redis does not answer", extra=extra)
            return self.local.take(holder, asyncio.get_running_loop().time())
        taken, left, wait = (int(value) for value in answer)
        return bool(taken), left, wait / 1000
