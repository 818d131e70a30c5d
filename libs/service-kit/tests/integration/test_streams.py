from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from deployment_keys import DeploymentKeys
from redis.asyncio import Redis

from contracts.events import DOCUMENTS, DocumentDeleted, Event
from service_kit.admission import Admission
from service_kit.background import Background
from service_kit.event_readings import connection_reading, memory_reading, outbox_reading, stream_reading
from service_kit.event_signatures import EventSignatures
from service_kit.notifications import Notifications
from service_kit.outbox import Outbox, OutboxRelay, first_time, new_event
from service_kit.postgres import Database
from service_kit.problems import ServiceSilent
from service_kit.stream_groups import trim
from service_kit.streams import Consumer, RetryPolicy, dead_letters, replay
from service_kit.telemetry import Metrics
from service_kit.tracing import span

QUICK = RetryPolicy(attempts=3, first_delay=0.01, longest_delay=0.02, reclaim_after=0.2)
DELETED = DocumentDeleted.event_type
KEYS = DeploymentKeys()
UPGRADED = datetime(2020, 1, 1, tzinfo=UTC)


def signatures(service: str, unsigned_until: datetime = UPGRADED) -> EventSignatures:
    """`service` may be none: one that only reads."""
    tokens = KEYS.tokens(service if service in KEYS.private else "memory")
    return EventSignatures(tokens.key, tokens.known, unsigned_until)


@pytest.fixture
async def redis(redis_url):
    async with Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
async def database(make_database):
    async with Database(make_database("kit_streams").service).opened() as opened:
        yield opened


async def write(database: Database, workspace: UUID) -> Event:
    document = uuid4()
    async with database.workspace(workspace) as connection:
        return await Outbox("ingestion").write(
            connection, workspace, DocumentDeleted(document_id=document), str(document)
        )


def relay(database: Database, redis: Redis) -> OutboxRelay:
    notifications = Notifications(database.pool.conninfo, "kit_streams_outbox")
    return OutboxRelay(database, redis, notifications, "kit_streams", signatures("ingestion"))


async def confirmed(events) -> list[bool]:
    return [True for _ in events]


def consumer(redis: Redis, handler, group="readers", metrics=None, **more) -> Consumer:
    options = {"policy": QUICK, "block_seconds": 0.05, "admission": Admission({"ingestion": confirmed})} | more
    return Consumer(redis, DOCUMENTS, group, {DELETED: handler}, metrics or Metrics(), signatures(group), **options)


async def test_an_event_is_published_only_after_its_transaction_commits(database, redis, workspace_id):
    with suppress(RuntimeError):
        async with database.workspace(workspace_id) as connection:
            await Outbox("ingestion").write(connection, workspace_id, DocumentDeleted(document_id=uuid4()), "x")
            raise RuntimeError("rolls back")
    event = await write(database, workspace_id)
    assert await relay(database, redis).publish_batch() == 1
    [(_, fields)] = await redis.xrange(DOCUMENTS)
    assert Event.model_validate_json(fields[b"event"]) == event
    assert await relay(database, redis).publish_batch() == 0


async def test_the_relay_wakes_when_an_event_is_written(database, redis, workspace_id):
    notifications = Notifications(database.pool.conninfo, "kit_streams_outbox")
    running = OutboxRelay(database, redis, notifications, "kit_streams", signatures("ingestion"))
    seen: asyncio.Queue[Event] = asyncio.Queue()
    async with Background(Metrics()) as tasks:
        tasks.start("notifications", notifications.run)
        tasks.start("relay", running.run)
        tasks.start("consumer", consumer(redis, seen.put).run)
        written = await write(database, workspace_id)
        assert await asyncio.wait_for(seen.get(), 120) == written


async def test_a_group_reads_from_the_beginning_and_each_group_receives_all_events(database, redis, workspace_id):
    written = [await write(database, workspace_id) for _ in range(3)]
    await relay(database, redis).publish_batch()
    for group in ("one", "two"):
        seen: list[Event] = []

        async def remember(event: Event, seen=seen) -> None:
            seen.append(event)

        reader = consumer(redis, remember, group)
        await reader.ensure_group()
        await reader.read_batch()
        assert seen == written


async def test_an_event_that_keeps_failing_becomes_a_replayable_dead_letter(database, redis, workspace_id):
    event = await write(database, workspace_id)
    await relay(database, redis).publish_batch()
    attempts, buried = [], []

    async def fail(event: Event) -> None:
        attempts.append(event)
        raise OSError("the disk is full")

    async def tell(event: Event, reason: str) -> None:
        buried.append((event, reason))

    reader = consumer(redis, fail, on_dead=tell)
    await reader.ensure_group()
    await reader.read_batch()
    assert len(attempts) == QUICK.attempts
    assert buried == [(event, "OSError: the disk is full")]
    [(_, letter)] = await redis.xrange(dead_letters(DOCUMENTS))
    assert letter[b"reason"] == b"OSError: the disk is full"
    assert (await redis.xpending(DOCUMENTS, "readers"))["pending"] == 0

    assert await replay(redis, DOCUMENTS, "others") == 0
    assert await replay(redis, DOCUMENTS, "readers") == 1
    assert await redis.xlen(dead_letters(DOCUMENTS)) == 0
    seen: list[Event] = []

    async def succeed(event: Event) -> None:
        seen.append(event)

    await consumer(redis, succeed).read_batch()
    assert seen == [event]


async def test_events_held_by_a_dead_consumer_are_taken_over(database, redis, workspace_id):
    event = await write(database, workspace_id)
    await relay(database, redis).publish_batch()
    seen: asyncio.Queue[Event] = asyncio.Queue()
    reader = consumer(redis, seen.put)
    await reader.ensure_group()
    await redis.xreadgroup("readers", "killed", {DOCUMENTS: ">"})
    assert await reader.read_batch() == 0
    async with Background(Metrics()) as tasks:
        tasks.start("consumer", reader.run)
        assert await asyncio.wait_for(seen.get(), 120) == event


async def test_events_of_one_workspace_are_handled_in_a_batch_and_individually_after_a_failure(
    database, redis, workspace_id
):
    other = uuid4()
    events = [await write(database, one) for one in (workspace_id, workspace_id, other, workspace_id, workspace_id)]
    await relay(database, redis).publish_batch()
    single, groups = list[Event](), list[list[Event]]()

    async def one(event: Event) -> None:
        single.append(event)

    async def several(found) -> None:
        groups.append(list(found))
        if len(groups) == 2:
            raise OSError("not all of them")

    reader = consumer(redis, one, together={DELETED: several})
    await reader.ensure_group()
    await reader.read_batch()
    assert groups == [events[:2], events[3:]]
    assert single == events[2:]
    assert (await redis.xpending(DOCUMENTS, "readers"))["pending"] == 0


async def test_events_about_the_same_thing_are_never_handled_together(database, redis, workspace_id):
    async with database.workspace(workspace_id) as connection:
        for document in ("a", "b", "a", "b"):
            deleted = DocumentDeleted(document_id=UUID(int=ord(document)))
            await Outbox("ingestion").write(connection, workspace_id, deleted, document)
    await relay(database, redis).publish_batch()
    groups = list[list[str]]()

    async def several(found) -> None:
        groups.append([event.subject for event in found])

    async def one(event: Event) -> None:
        groups.append([event.subject])

    reader = consumer(redis, one, together={DELETED: several})
    await reader.ensure_group()
    await reader.read_batch()
    assert groups == [["a", "b"], ["a", "b"]]


async def test_events_written_together_are_published_in_their_order(database, redis, workspace_id):
    documents = [uuid4() for _ in range(50)]
    deleted = [(DocumentDeleted(document_id=one), str(one)) for one in documents]
    async with database.workspace(workspace_id) as connection:
        await Outbox("ingestion").write_all(connection, workspace_id, deleted)
        await Outbox("ingestion").write_all(connection, workspace_id, [])
    await relay(database, redis).publish_batch()
    published = [Event.model_validate_json(fields[b"event"]) for _, fields in await redis.xrange(DOCUMENTS)]
    assert [UUID(one.data["document_id"]) for one in published] == documents


async def test_a_batch_continues_the_trace_of_its_first_event_and_links_to_the_others(
    database, redis, workspace_id, exporter
):
    causes = []
    for _ in range(3):
        with span("upload") as cause:
            await write(database, workspace_id)
            causes.append(cause.get_span_context())
    await relay(database, redis).publish_batch()

    async def ignore(_: object) -> None: ...

    reader = consumer(redis, ignore, together={DELETED: ignore})
    await reader.ensure_group()
    await reader.read_batch()
    batch = exporter.get_finished_spans()[-1]
    assert (batch.name, batch.parent.span_id) == (f"readers {DELETED} together", causes[0].span_id)
    assert [link.context.span_id for link in batch.links] == [cause.span_id for cause in causes[1:]]


async def test_malformed_entries_become_dead_letters_and_do_not_block_the_stream(database, redis, workspace_id):
    await redis.xadd(DOCUMENTS, {"event": "{not json"})
    await redis.xadd(DOCUMENTS, {"other": "thing"})
    written = await write(database, workspace_id)
    await relay(database, redis).publish_batch()
    seen: list[Event] = []

    async def remember(event: Event) -> None:
        seen.append(event)

    reader = consumer(redis, remember)
    await reader.ensure_group()
    await reader.read_batch()
    assert seen == [written]
    letters = await redis.xrange(dead_letters(DOCUMENTS))
    assert len(letters) == 2
    assert json.loads(letters[0][1][b"event"]) == {"event": "{not json"}


async def test_an_event_from_the_wrong_service_is_refused_without_reporting_its_failure(database, redis, workspace_id):
    """Covers a writer to the stream that sends, as `memory`, an event that only ingestion may send."""
    true = await write(database, workspace_id)
    await relay(database, redis).publish_batch()
    forged = true.model_copy(update={"source": "memory", "id": uuid4()})
    await redis.xadd(DOCUMENTS, signatures("memory").sign(DOCUMENTS, forged.model_dump_json()))
    seen, reported = list[Event](), []

    async def remember(event: Event) -> None:
        seen.append(event)

    async def tell(event: Event, reason: str) -> None:
        reported.append((event, reason))

    reader = consumer(redis, remember, on_dead=tell)
    await reader.ensure_group()
    await reader.read_batch()
    assert (seen, reported) == ([true], [])
    [(_, letter)] = await redis.xrange(dead_letters(DOCUMENTS))
    assert letter[b"reason"] == b"refused: document.deleted.v1 does not come from memory"
    assert reader.metrics.events.labels("readers", DELETED, "refused")._value.get() == 1


async def test_an_event_not_signed_by_its_source_is_refused(database, redis, workspace_id):
    """Covers a writer to the stream that uses another service's name."""
    true = await write(database, workspace_id)
    await relay(database, redis).publish_batch()
    [(_, fields)] = await redis.xrange(DOCUMENTS)
    forged = true.model_copy(update={"id": uuid4()}).model_dump_json()
    own, other = signatures("ingestion"), signatures("memory")
    for entry in (
        {"event": forged},
        other.sign(DOCUMENTS, forged),
        {"event": forged, "signature": fields[b"signature"]},
        {"event": forged, "signature": f"{own.key.id}.not hexadecimal"},
        own.sign("attractor.turns", forged),
        signatures_of_a_stranger().sign(DOCUMENTS, forged),
    ):
        await redis.xadd(DOCUMENTS, entry)
    seen: list[Event] = []

    async def remember(event: Event) -> None:
        seen.append(event)

    reader = consumer(redis, remember)
    await reader.ensure_group()
    await reader.read_batch()
    assert seen == [true]
    reasons = [letter[b"reason"] for _, letter in await redis.xrange(dead_letters(DOCUMENTS))]
    assert reasons == [b"refused: ingestion has not signed it"] * 6


def signatures_of_a_stranger() -> EventSignatures:
    tokens = DeploymentKeys().tokens("ingestion")
    return EventSignatures(tokens.key, tokens.known, UPGRADED)


async def test_unsigned_events_are_handled_only_if_written_before_the_upgrade(redis, workspace_id):
    old, new = (new_event("ingestion", workspace_id, DocumentDeleted(document_id=uuid4()), "x") for _ in range(2))
    hour = 3_600_000
    await redis.xadd(DOCUMENTS, {"event": old.model_dump_json()}, id="1000-0")
    await redis.xadd(DOCUMENTS, {"event": new.model_dump_json()}, id=f"{1001 + hour}-0")
    seen: list[Event] = []

    async def remember(event: Event) -> None:
        seen.append(event)

    until = datetime.fromtimestamp(1 + hour / 1000, UTC)
    reader = replace(consumer(redis, remember), signatures=signatures("memory", until))
    await reader.ensure_group()
    await reader.read_batch()
    assert seen == [old]


async def test_a_replayed_dead_letter_is_still_signed(database, redis, workspace_id):
    event = await write(database, workspace_id)
    await relay(database, redis).publish_batch()
    seen, is_broken = list[Event](), True

    async def handle(given: Event) -> None:
        if is_broken:
            raise OSError("away")
        seen.append(given)

    reader = consumer(redis, handle)
    await reader.ensure_group()
    await reader.read_batch()
    is_broken = False
    assert await replay(redis, DOCUMENTS, "readers") == 1
    await reader.read_batch()
    assert seen == [event]


async def test_a_deletion_waits_while_its_owner_is_unreachable(database, redis, workspace_id):
    """Checks that nothing is erased before the owner of the data has confirmed the deletion."""
    event = await write(database, workspace_id)
    await relay(database, redis).publish_batch()
    is_there, seen = asyncio.Event(), asyncio.Queue[Event]()

    async def owner(events):
        if not is_there.is_set():
            raise ServiceSilent("ingestion cannot be reached")
        return [True for _ in events]

    reader = consumer(redis, seen.put, admission=Admission({"ingestion": owner}))
    await reader.ensure_group()
    await reader.read_batch()
    assert seen.empty()
    assert (await redis.xpending(DOCUMENTS, "readers"))["pending"] == 1
    assert await redis.xlen(dead_letters(DOCUMENTS)) == 0
    is_there.set()
    async with Background(Metrics()) as tasks:
        tasks.start("consumer", reader.run)
        assert await asyncio.wait_for(seen.get(), 120) == event


async def test_an_event_is_handled_once(database, workspace_id):
    event = await write(database, workspace_id)
    results = []
    for _ in range(2):
        async with database.workspace(workspace_id) as connection:
            results.append(await first_time(connection, event))
    assert results == [True, False]


async def test_a_transaction_sees_only_its_workspace(database, workspace_id):
    await write(database, workspace_id)
    counts = []
    for other in (workspace_id, uuid4()):
        async with database.workspace(other) as connection:
            cursor = await connection.execute("SELECT count(*) FROM outbox")
            counts.append((await cursor.fetchone())[0])
    async with database.pool.connection() as connection:
        cursor = await connection.execute("SELECT count(*) FROM outbox")
        counts.append((await cursor.fetchone())[0])
    assert counts == [1, 0, 0]


async def test_old_entries_are_trimmed_after_every_group_has_handled_them(database, redis, workspace_id):
    for _ in range(4):
        await write(database, workspace_id)
    await relay(database, redis).publish_batch()
    at_once = timedelta(seconds=-60)
    assert await trim(redis, DOCUMENTS, at_once) == 0  # no group has read anything yet

    async def ignore(event: Event) -> None:
        assert event

    for group in ("quick", "slow"):
        await consumer(redis, ignore, group).ensure_group()
    await consumer(redis, ignore, "quick").read_batch()
    assert await trim(redis, DOCUMENTS, at_once) == 0
    await redis.xreadgroup("slow", "killed", {DOCUMENTS: ">"}, count=2)
    assert await trim(redis, DOCUMENTS, at_once) == 0
    [first, second] = [entry["message_id"] for entry in await redis.xpending_range(DOCUMENTS, "slow", "-", "+", 9)]
    await redis.xack(DOCUMENTS, "slow", first)
    assert await trim(redis, DOCUMENTS, timedelta(days=7)) == 0
    assert await trim(redis, DOCUMENTS, at_once) == 1
    assert (await redis.xrange(DOCUMENTS))[0][0] == second


async def test_an_oversized_stream_drops_its_oldest_entries_that_every_group_has_handled(redis, workspace_id):
    event = new_event("ingestion", workspace_id, DocumentDeleted(document_id=uuid4()), "x").model_dump_json()
    for _ in range(2_000):
        await redis.xadd(DOCUMENTS, {"event": event})
    size, week = await redis.memory_usage(DOCUMENTS, samples=0), timedelta(days=7)
    await redis.xgroup_create(DOCUMENTS, "quick", id="$")
    await redis.xgroup_create(DOCUMENTS, "slow", id="0")
    assert await trim(redis, DOCUMENTS, week, size // 4) == 0  # a group needs them all
    [(_, entries)] = await redis.xreadgroup("slow", "one", {DOCUMENTS: ">"}, count=1_000)
    [oldest, *others] = [entry for entry, _ in entries]
    await redis.xack(DOCUMENTS, "slow", *others)
    assert await trim(redis, DOCUMENTS, week, size // 4) == 0  # all wait for its first
    await redis.xack(DOCUMENTS, "slow", oldest)
    assert 400 < await trim(redis, DOCUMENTS, week, 3 * size // 4) < 600
    assert await redis.memory_usage(DOCUMENTS, samples=0) < 0.8 * size
    assert 300 < await trim(redis, DOCUMENTS, week, size // 4) <= 600  # and then only what has been handled
    remaining = [entry for entry, _ in await redis.xrange(DOCUMENTS)]
    assert 1_000 <= len(remaining) < 1_100
    assert await redis.xlen(DOCUMENTS) - 1_000 == remaining.index(others[-1]) + 1


async def test_a_full_redis_delays_the_outbox_without_loss_or_reordering(
    database, redis, workspace_id, monkeypatch, caplog
):
    monkeypatch.setattr("service_kit.outbox.FULL_SECONDS", 0.05)
    notifications = Notifications(database.pool.conninfo, "kit_streams_outbox")
    seen: asyncio.Queue[UUID] = asyncio.Queue()

    async def see(event: Event) -> None:
        seen.put_nowait(event.id)

    reader, metrics = consumer(redis, see), Metrics()
    await reader.ensure_group()
    running = OutboxRelay(database, redis, notifications, "kit_streams", signatures("ingestion"))
    [before] = (await redis.config_get("maxmemory")).values()
    assert (await reported(memory_reading(redis)))["attractor_redis_most_bytes"] == float(before)
    early = await write(database, workspace_id)
    assert await running.publish_batch() == 1
    try:
        await redis.config_set("maxmemory", 1)
        written = [await write(database, workspace_id) for _ in range(3)]
        full = await reported(memory_reading(redis))
        assert full["attractor_redis_bytes"] > full["attractor_redis_most_bytes"] == 1
        async with Background(metrics) as tasks, asyncio.timeout(60):
            tasks.start("notifications", notifications.run)
            tasks.start("relay", running.run)
            while "Redis is full, events wait" not in caplog.text:  # noqa: ASYNC110  a log has no event
                await asyncio.sleep(0.02)
            await tasks.check()  # waiting is no failure
            assert await reader.read_batch() == 1  # who reads goes on, and so makes room
            assert seen.get_nowait() == early.id
            assert (await reported(outbox_reading(database)))["attractor_outbox_rows"] == 3
            assert await redis.xlen(DOCUMENTS) == 1
            await redis.config_set("maxmemory", before)
            tasks.start("reader", reader.run)
            assert [await seen.get() for _ in written] == [event.id for event in written]
    finally:
        await redis.config_set("maxmemory", before)
    assert await redis.xlen(DOCUMENTS) == 4
    assert str(written[0].id) not in caplog.text


async def reported(*readings) -> dict[str, float]:
    """Returns the samples of the readings by name."""
    return {sample.name: sample.value for read in readings for metric in await read() for sample in metric.samples}


async def test_waiting_events_are_reported_at_each_stage(database, redis, workspace_id):
    """Covers the outbox, the stream, a consumer's pending entries, and the dead letters."""
    read = [outbox_reading(database), stream_reading(redis, "readers", [DOCUMENTS]), connection_reading(database)]
    before = await reported(*read)
    assert (before["attractor_outbox_rows"], before["attractor_dead_letters"]) == (0, 0)
    assert before["attractor_database_connections_most"] >= 1
    first = consumer(redis, None)
    await first.ensure_group()
    await write(database, workspace_id)
    assert (await reported(*read))["attractor_outbox_rows"] == 1
    await relay(database, redis).publish_batch()
    on_stream = await reported(*read)
    assert (on_stream["attractor_outbox_rows"], on_stream["attractor_stream_lag"]) == (0, 1)
    _, entries = (await redis.xreadgroup("readers", "a reader", {DOCUMENTS: ">"}))[0]
    given = await reported(*read)
    assert (given["attractor_stream_lag"], given["attractor_stream_pending"]) == (0, 1)
    assert given["attractor_stream_pending_oldest_seconds"] > 0

    async def fail(_):
        raise ValueError("it cannot be handled")

    metrics = Metrics()
    dead = {"group": "readers", "type": DELETED, "result": "dead"}
    last = consumer(redis, fail, metrics=metrics)
    assert metrics.registry.get_sample_value("attractor_events_total", dead) == 0, "so that the first is an increase"
    await last.handle_all(entries)
    assert metrics.registry.get_sample_value("attractor_events_total", dead) == 1
    after = await reported(*read)
    assert (after["attractor_stream_pending"], after["attractor_dead_letters"]) == (0, 1)
    assert after["attractor_stream_pending_oldest_seconds"] == 0
