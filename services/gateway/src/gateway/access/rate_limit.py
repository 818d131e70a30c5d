"""Token buckets in Redis, shared by all replicas. While Redis does not answer, requests pass unlimited."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from importlib import resources
from typing import Any

from prometheus_client import CollectorRegistry, Counter
from redis.asyncio import Redis

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
        self.unchecked = Counter(
            f"attractor_{name}_unchecked_total",
            "Requests admitted without a check, as Redis did not answer",
            registry=registry,
        )

    async def take(self, holder: str) -> Allowance | None:
        """Takes a token from the holder's bucket. Returns None without a limit, and while Redis does not answer."""
        if self.per_minute == 0:
            return None
        keys, arguments = [f"gateway:{self.name}:{holder}"], [self.per_minute / 60, self.capacity]
        try:
            answer: Any = await self.optional.ask(lambda: self.script(keys=keys, args=arguments))
        except RedisUnavailable as error:
            self.unchecked.inc()
            if error.__cause__:
                extra = {"limit": self.name, "error": repr(error.__cause__)}
                log.warning("rate limits are not enforced: Redis does not answer", extra=extra)
            return None
        taken, left, wait = (int(value) for value in answer)
        if not taken:
            self.refused.inc()
        full_seconds = (self.capacity - left) * 60 / self.per_minute
        return Allowance(bool(taken), self.capacity, left, wait / 1000, full_seconds)
