from __future__ import annotations

import asyncio
from contextlib import suppress

import psycopg
import pytest

from service_kit.background import Background
from service_kit.notifications import Notifications
from service_kit.telemetry import Metrics


@pytest.fixture
def url(make_database) -> str:
    return make_database("kit_notifications").service


async def test_a_wait_ends_when_its_payload_is_notified(url):
    notifications = Notifications(url, "changed")
    async with Background(Metrics()) as tasks, notifications.subscribe("changed", "7") as seven:
        tasks.start("notifications", notifications.run)
        assert await seven.wait(60)  # the start wakes everyone
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SELECT pg_notify('changed', '8')")
            assert not await seven.wait(0.3)
            connection.execute("SELECT pg_notify('changed', '7')")
            assert await seven.wait(60)


@pytest.mark.parametrize("milliseconds", [0, 1, 2, 3, 5, 8])
async def test_a_cancelled_start_leaves_no_half_open_login(url, milliseconds):
    running = asyncio.create_task(Notifications(url, "changed").run())
    await asyncio.sleep(milliseconds / 1000)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with psycopg.connect(url, autocommit=True) as connection:
        async with asyncio.timeout(120):  # the server waits a minute for a log-in that was left half open
            while connection.execute(others).fetchone() != (0,):  # noqa: ASYNC110  it is the server that changes
                await asyncio.sleep(0.05)  # a server process ends a moment after its connection
