"""Token buckets in Redis, shared by all replicas. When Redis is away, requests pass: the door stays open."""

from __future__ import annotations

import asyncio
import logging
import math
from dataclasses import dataclass
from importlib import resources
from typing import Any

from prometheus_client import CollectorRegistry, Counter
from redis.asyncio import Redis
from redis.exceptions import RedisError

log = logging.getLogger(__name__)
ANSWER_SECONDS = 0.25
PAUSE_SECONDS = 5.0


@dataclass(frozen=True)
class Allowance:
    """What is left in a bucket; seconds until the next request would be let in, and until the bucket is full."""

    allowed: bool
    limit: int
    remaining: int
    wait_seconds: float
    full_seconds: float

    @property
    def headers(self) -> dict[str, str]:
        """RateLimit fields as in draft-ietf-httpapi-ratelimit-headers-07, and Retry-After (RFC 9110) on a refusal."""
        fields = {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(math.ceil(self.full_seconds)),
        }
        if not self.allowed:
            fields["Retry-After"] = str(max(1, math.ceil(self.wait_seconds)))
        return fields


class Buckets:
    """`capacity` requests at once, `per_minute` of them in the long run; 0 per minute is no limit."""

    def __init__(self, redis: Redis, name: str, per_minute: int, capacity: int, registry: CollectorRegistry) -> None:
        self.redis, self.name, self.per_minute, self.capacity = redis, name, per_minute, capacity
        text = resources.files("gateway").joinpath("lua/token_bucket.lua").read_text(encoding="utf-8")
        self.script = redis.register_script(text)
        self.paused_until = 0.0
        self.refused = Counter(f"attractor_{name}_refused_total", "Requests over the limit", registry=registry)
        self.unchecked = Counter(
            f"attractor_{name}_unchecked_total", "Requests let in unchecked, as Redis was away", registry=registry
        )

    async def take(self, holder: str) -> Allowance | None:
        """One token of the holder's bucket; None when there is no limit, or Redis does not answer."""
        if self.per_minute == 0:
            return None
        now = asyncio.get_running_loop().time()
        if now < self.paused_until:
            self.unchecked.inc()
            return None
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                key = f"gateway:{self.name}:{holder}"
                answer: Any = await self.script(keys=[key], args=[self.per_minute / 60, self.capacity])
        except (RedisError, OSError, TimeoutError) as error:
            self.paused_until = now + PAUSE_SECONDS
            self.unchecked.inc()
            log.warning("rate limits are not checked: Redis is away", extra={"limit": self.name, "error": repr(error)})
            return None
        taken, left, wait = (int(value) for value in answer)
        if not taken:
            self.refused.inc()
        full_seconds = (self.capacity - left) * 60 / self.per_minute
        return Allowance(bool(taken), self.capacity, left, wait / 1000, full_seconds)
