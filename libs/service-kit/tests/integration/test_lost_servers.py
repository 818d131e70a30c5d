"""PostgreSQL vanishes from the network without closing a connection."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import psycopg
import pytest
from lost_servers import LosableServer, losable

from service_kit.notifications import Notifications
from service_kit.postgres import Database
from service_kit.problems import Unavailable


@pytest.fixture
def server(make_database) -> Iterator[LosableServer]:
    with losable(make_database("kit_notifications").service) as server:
        yield server


async def test_a_transaction_fails_when_its_server_has_vanished(server):
    async with Database(server.url).opened() as database:
        await database.check()
        server.vanish()
        with pytest.raises((psycopg.OperationalError, Unavailable)):
            async with asyncio.timeout(120), database.system():
                """Not reached: it begins with a round trip."""


async def test_a_listener_that_hears_nothing_notices_that_its_server_has_vanished(server):
    notifications = Notifications(server.url, "changed")
    async with notifications.subscribe("changed") as changed:
        running = asyncio.create_task(notifications.run())
        assert await changed.wait(60)  # the start wakes everyone
        server.vanish()
        with pytest.raises(psycopg.OperationalError):
            async with asyncio.timeout(120):
                await running
