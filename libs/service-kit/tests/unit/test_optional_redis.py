import asyncio

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from service_kit.optional_redis import OptionalRedis, RedisUnavailable


async def test_redis_is_not_called_for_a_while_after_a_failure() -> None:
    redis, calls = OptionalRedis(), []

    async def fails() -> None:
        calls.append(1)
        raise RedisConnectionError

    with pytest.raises(RedisUnavailable) as first:
        await redis.ask(fails)
    assert isinstance(first.value.__cause__, RedisConnectionError)
    with pytest.raises(RedisUnavailable) as second:
        await redis.ask(fails)
    assert (second.value.__cause__, calls) == (None, [1])


async def test_redis_is_called_again_after_the_pause() -> None:
    redis = OptionalRedis()
    redis.paused_until = asyncio.get_running_loop().time()

    async def answers() -> int:
        return 7

    assert await redis.ask(answers) == 7
