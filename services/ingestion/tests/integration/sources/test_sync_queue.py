"""Synchronisations as leased work: the suite for all such tables, and their own rules."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from work_conformance import LEASE_SECONDS, WorkCase, WorkConformance

from ingestion.sources.syncs import HeldSync, sync_work
from service_kit.notifications import Notifications
from service_kit.postgres import Database
from service_kit.work import WorkQueue

MAX_LOSSES = 3
SOURCE = """INSERT INTO ingestion.source (workspace_id, id, name, kind, config, on_removed)
VALUES (%(workspace_id)s, %(source_id)s, 'Handbook', 'folder', '{"kind": "folder", "path": "x"}', 'delete')"""
SYNC = """INSERT INTO ingestion.source_sync (workspace_id, id, source_id, trigger)
VALUES (%(workspace_id)s, gen_random_uuid(), %(source_id)s, 'request')"""


@pytest.fixture
async def pool(database: Any) -> AsyncIterator[Database]:
    async with Database(database.service).opened() as opened:
        yield opened


@pytest.fixture
def queue(pool: Database) -> WorkQueue[HeldSync]:
    return WorkQueue(pool, sync_work(MAX_LOSSES), LEASE_SECONDS, "worker")


async def expire(pool: Database) -> None:
    async with pool.system() as connection:
        await connection.execute("UPDATE source_sync SET lease_expires_at = now() - interval '1 second'")


class TestSyncQueue(WorkConformance):
    @pytest.fixture
    def case(self, database: Any, pool: Database) -> WorkCase:
        async def add(workspace_id: UUID, count: int) -> None:
            async with pool.workspace(workspace_id) as connection:
                for _ in range(count):
                    values = {"workspace_id": workspace_id, "source_id": uuid4()}
                    await connection.execute(SOURCE, values)
                    await connection.execute(SYNC, values)

        return WorkCase(
            lambda owner, lease_seconds: WorkQueue(pool, sync_work(MAX_LOSSES), lease_seconds, owner),
            add,
            Notifications(database.service, "ingestion_queue"),
            "succeeded",
        )


@pytest.fixture
def source(database: Any) -> dict[str, UUID]:
    """A source with one waiting synchronisation."""
    values = {"workspace_id": uuid4(), "source_id": uuid4()}
    with psycopg.connect(database.admin, autocommit=True) as connection:
        connection.execute(SOURCE, values)
        connection.execute(SYNC, values)
    return values


async def test_a_source_is_synchronised_by_one_worker_at_a_time(
    queue: WorkQueue[HeldSync], pool: Database, source: dict[str, UUID]
) -> None:
    [held] = await queue.claim(1)
    assert (held.source_id, held.config["kind"]) == (source["source_id"], "folder")
    async with pool.workspace(source["workspace_id"]) as connection:
        await connection.execute(SYNC, source)
    assert await queue.claim(1) == []
    async with pool.workspace(source["workspace_id"]) as connection:
        await queue.finish(connection, held, "succeeded")
    assert len(await queue.claim(1)) == 1


async def test_a_synchronisation_fails_when_its_last_attempt_loses_its_worker(
    queue: WorkQueue[HeldSync], pool: Database, source: dict[str, UUID]
) -> None:
    for _ in range(MAX_LOSSES):
        assert len(await queue.claim(1)) == 1
        await expire(pool)
        assert await queue.recover() == 1
    assert await queue.claim(1) == []
    async with pool.workspace(source["workspace_id"]) as connection:
        row = await (await connection.execute("SELECT state, error_class FROM source_sync")).fetchone()
    assert row == ("failed", "worker-lost")


async def test_a_lost_synchronisation_is_not_requeued_beside_another(
    queue: WorkQueue[HeldSync], pool: Database, source: dict[str, UUID]
) -> None:
    await queue.claim(1)
    async with pool.workspace(source["workspace_id"]) as connection:
        await connection.execute(SYNC, source)
    await expire(pool)
    assert await queue.recover() == 1
    async with pool.workspace(source["workspace_id"]) as connection:
        rows = await (await connection.execute("SELECT state FROM source_sync ORDER BY state")).fetchall()
    assert rows == [("failed",), ("queued",)]
