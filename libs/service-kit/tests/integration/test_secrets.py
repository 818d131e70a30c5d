"""A store that refuses a password: neither the log nor the health answer repeats it."""

from __future__ import annotations

import asyncio
import logging

import psycopg
import pytest
from redis.asyncio import Redis

from service_kit.background import Background
from service_kit.health import Health
from service_kit.notifications import Notifications
from service_kit.postgres import Database
from service_kit.telemetry import JsonFormatter, Metrics

WRONG = "wrong-7c1f5e"


async def test_a_refused_password_is_not_repeated(
    make_database, redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    right = make_database("kit_c").service
    url = right.replace("password-of-attractor_kit_c", WRONG)
    assert url != right
    caplog.set_level(logging.DEBUG)
    health, database = Health(), Database(url)
    refused = asyncio.Event()

    async def listen() -> None:
        try:
            await Notifications(url, "anything").run()
        finally:
            refused.set()

    async with Redis.from_url(redis_url.replace("redis://", f"redis://nobody:{WRONG}@")) as redis:

        async def answers() -> None:
            await redis.ping()

        async with database.opened(), Background(Metrics()) as background:
            health.add("database", database.check)
            health.add("redis", answers)
            health.add("background", background.check)
            background.start("notifications", listen)
            async with asyncio.timeout(120):
                await refused.wait()
            failures = await health.failures()
    assert failures.keys() == {"database", "redis", "background"}
    assert failures["background"] == f"notifications: {psycopg.OperationalError.__name__}"
    logged = "\n".join(map(JsonFormatter("test").format, caplog.records))
    assert "password authentication failed" in logged
    assert WRONG not in logged + str(failures)
