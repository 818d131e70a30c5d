"""A deleted workspace: all its rows go, none comes back, and the neighbour keeps everything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from uuid import UUID, uuid4

import psycopg
import pytest
from deployment_keys import DeploymentKeys
from redis.asyncio import Redis

from contracts.events import DOCUMENTS, DocumentDeleted, Event, WorkspaceDeleted, WorkspacePurged
from service_kit.admission import Admission
from service_kit.event_signatures import EventSignatures
from service_kit.notifications import Notifications
from service_kit.outbox import Outbox, first_time, new_event
from service_kit.postgres import Database
from service_kit.problems import WorkspaceGone
from service_kit.stream_erasure import count_events, erase_events
from service_kit.streams import Consumer, dead_letters
from service_kit.telemetry import Metrics
from service_kit.workspace_purge import Erased, WorkspacePurge

TABLES = """
SET search_path = kit_purge, public;
CREATE TABLE shelf (workspace_id uuid, id int, PRIMARY KEY (workspace_id, id));
SELECT protect('shelf');
CREATE TABLE book (workspace_id uuid, id int, shelf int, PRIMARY KEY (workspace_id, id),
                   FOREIGN KEY (workspace_id, shelf) REFERENCES shelf (workspace_id, id));
SELECT protect_queue('book');
CREATE TABLE branch (id int);
"""
EMPTY = {"book": 0, "shelf": 0, "handled_event": 0, "outbox": 0}


@pytest.fixture
async def database(make_database) -> AsyncIterator[Database]:
    urls = make_database("kit_purge")
    with psycopg.connect(urls.admin) as admin:
        admin.execute(TABLES)
    async with Database(urls.service, 4).opened() as opened:
        yield opened


@pytest.fixture
def purge(database) -> WorkspacePurge:
    return WorkspacePurge(database, Outbox("kit"), "kit_purge", rows_at_once=10)


def event(workspace_id: UUID, data=None) -> Event:
    data = data or WorkspaceDeleted()
    return new_event(data.sources[0], workspace_id, data, "x")


async def fill(database: Database, workspace_id: UUID, books: int) -> None:
    async with database.workspace(workspace_id) as connection:
        await connection.execute("INSERT INTO shelf VALUES (%s, 1)", (workspace_id,))
        await connection.execute(
            "INSERT INTO book SELECT %s, n, 1 FROM generate_series(1, %s) n", (workspace_id, books)
        )
        await first_time(connection, event(workspace_id))
        await Outbox("test").write(connection, workspace_id, DocumentDeleted(document_id=uuid4()), "x")


async def count(database: Database, workspace_id: UUID) -> int:
    async with database.workspace(workspace_id) as connection:
        cursor = await connection.execute("SELECT (SELECT count(*) FROM book) + (SELECT count(*) FROM shelf)")
        return int((await cursor.fetchone())[0])


async def confirmations(database: Database, workspace_id: UUID) -> list[WorkspacePurged]:
    async with database.workspace(workspace_id) as connection:
        cursor = await connection.execute("SELECT event FROM outbox ORDER BY position")
        found = [Event.model_validate(row[0]) for row in await cursor.fetchall()]
    return [WorkspacePurged.model_validate(one.data) for one in found if one.type == WorkspacePurged.event_type]


async def test_all_rows_are_deleted_in_batches_and_the_counts_are_reported(database, purge, workspace_id):
    other = uuid4()
    await fill(database, workspace_id, 25)
    await fill(database, other, 3)
    await purge.mark(event(workspace_id))
    assert await purge.purge(workspace_id)
    [receipt] = await confirmations(database, workspace_id)
    assert receipt.service == "kit"
    assert receipt.removed == {"book": 25, "shelf": 1, "handled_event": 1, "outbox": 1}
    assert receipt.remaining == EMPTY
    assert (await count(database, workspace_id), await count(database, other)) == (0, 4)


async def test_an_interrupted_purge_continues_and_confirms_the_total(database, purge, workspace_id):
    await fill(database, workspace_id, 25)
    await purge.mark(event(workspace_id))
    assert await purge._delete_some(workspace_id, "book") == 10  # and the process dies
    assert await purge.purge(workspace_id)
    await purge.mark(event(workspace_id))  # announced again
    assert await purge.purge(workspace_id)
    [receipt] = await confirmations(database, workspace_id)
    assert (receipt.removed["book"], receipt.remaining) == (25, EMPTY)


async def test_nothing_is_written_to_a_deleted_workspace(database, purge, workspace_id):
    await purge.mark(event(workspace_id))
    with pytest.raises(WorkspaceGone):
        async with database.workspace(workspace_id) as connection:
            await connection.execute("INSERT INTO shelf VALUES (%s, 1)", (workspace_id,))
    with pytest.raises(WorkspaceGone):
        async with database.system() as connection:
            await connection.execute("INSERT INTO book VALUES (%s, 1, NULL)", (workspace_id,))
    with pytest.raises(WorkspaceGone):  # a table that was there before the guard
        async with database.workspace(workspace_id) as connection:
            await connection.execute("INSERT INTO handled_event VALUES (%s, %s)", (workspace_id, uuid4()))
    async with database.workspace(workspace_id) as connection:
        assert not await first_time(connection, event(workspace_id))
    await fill(database, uuid4(), 1)
    async with database.system() as connection:
        await connection.execute("INSERT INTO book VALUES (%s, 1, NULL)", (uuid4(),))


async def test_a_purge_waits_for_open_transactions_and_deletes_their_rows(database, purge, workspace_id):
    written, proceed = asyncio.Event(), asyncio.Event()

    async def slow() -> None:
        async with database.workspace(workspace_id) as connection:
            await connection.execute("INSERT INTO shelf VALUES (%s, 1)", (workspace_id,))
            written.set()
            await proceed.wait()

    writing = asyncio.create_task(slow())
    await written.wait()
    asking = asyncio.create_task(purge.mark(event(workspace_id)))
    finished, _ = await asyncio.wait({asking}, timeout=0.3)
    assert not finished
    proceed.set()
    await asyncio.gather(writing, asking)
    await purge.purge(workspace_id)
    assert await count(database, workspace_id) == 0
    assert (await confirmations(database, workspace_id))[0].removed["shelf"] == 1


async def test_writers_racing_with_the_deletion_leave_nothing(database, purge, workspace_id):
    async def write(number: int) -> bool:
        try:
            async with database.workspace(workspace_id) as connection:
                await connection.execute("INSERT INTO shelf VALUES (%s, %s)", (workspace_id, number))
        except WorkspaceGone:
            return False
        return True

    writers = [asyncio.create_task(write(number)) for number in range(40)]
    await asyncio.sleep(0.02)
    await purge.mark(event(workspace_id))
    await purge.purge(workspace_id)
    landed = sum(await asyncio.gather(*writers))
    assert await count(database, workspace_id) == 0
    assert (await confirmations(database, workspace_id))[0].removed["shelf"] == landed


async def test_other_stores_are_erased_before_and_after(database, workspace_id):
    seen: list[tuple[str, int]] = []

    async def before(deleted: UUID) -> Erased:
        seen.append(("before", await count(database, deleted)))
        return Erased({"streams": 2}, {"streams": 0})

    async def after(deleted: UUID) -> Erased:
        seen.append(("after", await count(database, deleted)))
        return Erased({"objects": 3}, {"objects": 1})

    await fill(database, workspace_id, 1)
    purge = WorkspacePurge(database, Outbox("kit"), "kit_purge", [before], [after])
    await purge.mark(event(workspace_id))
    await purge.purge(workspace_id)
    [receipt] = await confirmations(database, workspace_id)
    assert seen == [("before", 2), ("after", 0)]
    assert (receipt.removed["streams"], receipt.removed["objects"]) == (2, 3)
    assert receipt.remaining == EMPTY | {"streams": 0, "objects": 1}


async def test_a_purge_wakes_when_notified_and_a_failing_one_does_not_block_others(database, workspace_id):
    broken, done = uuid4(), asyncio.Event()

    async def erase(deleted: UUID) -> Erased:
        if deleted == broken:
            raise RuntimeError("its store is away")
        done.set()
        return Erased()

    purge = WorkspacePurge(database, Outbox("kit"), "kit_purge", after=[erase])
    notifications = Notifications(database.pool.conninfo, purge.channel)
    tasks = [asyncio.create_task(notifications.run()), asyncio.create_task(purge.run(notifications))]
    await purge.mark(event(broken))
    await purge.mark(event(workspace_id))
    await asyncio.wait_for(done.wait(), 120)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert await confirmations(database, broken) == []


async def test_events_of_a_deleted_workspace_are_not_passed_to_handlers(purge, workspace_id):
    handled: list[Event] = []

    async def handle(given: Event) -> None:
        handled.append(given)

    around = purge.around({DocumentDeleted.event_type: handle})
    early, late, other = (event(one, DocumentDeleted(document_id=uuid4())) for one in (workspace_id,) * 2 + (uuid4(),))
    await around[early.type](early)
    await around[WorkspaceDeleted.event_type](event(workspace_id))
    await around[late.type](late)
    await around[other.type](other)
    assert handled == [early, other]


async def confirmed(events) -> list[bool]:
    return [True for _ in events]


async def test_an_event_of_a_deleted_workspace_does_not_become_a_dead_letter(database, purge, redis_url, workspace_id):
    async def handle(late: Event) -> None:
        async with database.workspace(late.workspace_id) as connection:
            await connection.execute("INSERT INTO shelf VALUES (%s, 1)", (late.workspace_id,))

    await purge.mark(event(workspace_id))
    async with Redis.from_url(redis_url) as redis:
        late = event(workspace_id, DocumentDeleted(document_id=uuid4()))
        tokens = DeploymentKeys().tokens("ingestion")
        signatures = EventSignatures(tokens.key, tokens.known, datetime.now(UTC))
        await redis.xadd(DOCUMENTS, signatures.sign(DOCUMENTS, late.model_dump_json()))
        admission = Admission({"ingestion": confirmed})
        consumer = Consumer(
            redis, DOCUMENTS, "kit", {late.type: handle}, Metrics(), signatures, block_seconds=0.05, admission=admission
        )
        await consumer.ensure_group()
        assert await consumer.read_batch() == 1
        assert await redis.xlen(dead_letters(DOCUMENTS)) == 0
        assert (await redis.xpending(DOCUMENTS, "kit"))["pending"] == 0


async def test_the_events_of_a_deleted_workspace_are_removed_from_the_streams(redis_url, workspace_id, monkeypatch):
    monkeypatch.setattr("service_kit.stream_erasure.ENTRIES_AT_ONCE", 3)
    other = uuid4()
    async with Redis.from_url(redis_url) as redis:
        await redis.xadd(DOCUMENTS, {"event": "no event"})
        for owner in [workspace_id, other] * 5:
            one = event(owner, DocumentDeleted(document_id=uuid4()))
            await redis.xadd(DOCUMENTS, {"event": one.model_dump_json()})
        await redis.xadd(DOCUMENTS, {"event": event(workspace_id).model_dump_json()})
        assert await count_events(redis, DOCUMENTS, workspace_id) == 5
        assert await erase_events(redis, DOCUMENTS, workspace_id) == 5
        assert await count_events(redis, DOCUMENTS, workspace_id) == 0
        assert await count_events(redis, DOCUMENTS, other) == 5
        assert await redis.xlen(DOCUMENTS) == 7
        assert await erase_events(redis, "no.stream", workspace_id) == 0
