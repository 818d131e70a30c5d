"""Nothing gets stuck: work that a worker, the broker or a stream loses is recovered."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import ExitStack
from typing import Any

import httpx2
import pytest
from redis.asyncio import Redis

from contracts.ingestion import Lane
from ingestion.queue.celery_app import QUEUES
from ingestion.settings import Settings
from ingestion.worker.database import WorkerDatabase
from ingestion.worker.registration import Registration
from service_kit.work import LeaseLost

LEASE_SECONDS = 2.0
QUEUE = QUEUES[Lane.interactive]
Entry = Callable[..., Awaitable[dict[str, Any]]]
Process = Callable[[str], Coroutine[Any, Any, None]]
Detail = Callable[[str], Awaitable[dict[str, Any]]]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"reannounce_after_seconds": 1.0, "worker_target_seconds": 2.0})


@pytest.fixture
def dying(open_queue: Any) -> Any:
    """The queue of a worker that leases a stage and then disappears."""
    return open_queue("dying")


def convert_stage(detail: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = detail["stages"][1]
    return found


@pytest.fixture
def registered(settings: Settings) -> Iterator[Callable[[], Registration]]:
    """`registered()` registers a worker with two slots that takes nothing."""
    with ExitStack() as stack:
        database = stack.enter_context(WorkerDatabase(settings.database_url.get_secret_value(), 2).opened())

        def register() -> Registration:
            waiting = Registration(database, "waiting", 2, LEASE_SECONDS, lambda: 0, lambda: ())
            return stack.enter_context(waiting)

        yield register


async def test_only_lost_messages_are_republished(
    upload: Entry, redis_url: str, registered: Callable[[], Registration], eventually: Any
) -> None:
    registered()
    async with Redis.from_url(redis_url) as redis:
        for _ in range(5):
            await upload()
        # At least as many as the worker has threads for interactive work.
        await eventually(lambda: redis.llen(QUEUE), lambda waiting: waiting >= 3)
        await redis.flushall()
        await eventually(lambda: redis.llen(QUEUE), lambda waiting: waiting >= 3)
        await redis.lpop(QUEUE)
        await eventually(lambda: redis.llen(QUEUE), lambda waiting: waiting >= 3)
        await asyncio.sleep(2.5)  # ticks pass
        # The client may have repeated a slow message, but a dispatcher that repeats would have sent three per tick.
        assert await redis.llen(QUEUE) < 6


async def test_nothing_is_published_without_a_worker(
    upload: Entry, redis_url: str, registered: Callable[[], Registration], eventually: Any, client: httpx2.AsyncClient
) -> None:
    async with Redis.from_url(redis_url) as redis:
        await upload()
        await asyncio.sleep(1.5)
        assert await redis.llen(QUEUE) == 0
        metrics = (await client.get("/metrics")).text
        assert "attractor_ingestion_workers 0.0" in metrics
        registered()
        await eventually(lambda: redis.llen(QUEUE), lambda waiting: waiting >= 1)


async def test_queue_documents_and_sources_have_metrics(
    upload: Entry, client: httpx2.AsyncClient, eventually: Any
) -> None:
    await upload()

    async def metrics() -> str:
        return (await client.get("/metrics")).text

    def counted(text: str) -> bool:
        return all(
            wanted in text
            for wanted in (
                'attractor_ingestion_queue_depth{lane="interactive",stage="convert"} 1.0',
                'attractor_document_stages{stage="convert",state="queued"} 1.0',
                'attractor_document_stages{stage="index",state="succeeded"} 0.0',
            )
        )

    text = await eventually(metrics, counted)
    assert 'attractor_ingestion_queue_oldest_seconds{lane="interactive"}' in text
    assert 'attractor_ingestion_queue_depth{lane="bulk",stage="embed"} 0.0' in text
    assert 'attractor_sources{last_success="never"} 0.0' in text
    assert "attractor_sources_overdue 0.0" in text
    assert re.search(r'attractor_build_info\{schema="\d{4}_', text), "schema version"


async def test_an_autoscaler_reads_how_many_workers_are_wanted(
    upload: Entry, client: httpx2.AsyncClient, eventually: Any, registered: Callable[[], Registration]
) -> None:
    assert (await client.get("/internal/workers")).json() == {"wanted": 0}
    registered()
    for _ in range(9):
        await upload()

    async def asked() -> dict[str, int]:
        return (await client.get("/internal/workers", headers={"Authorization": ""})).json()

    assert await eventually(asked, lambda now: now["wanted"] != 1) == {"wanted": 3}, "they have waited too long"

    async def metrics() -> str:
        return (await client.get("/metrics")).text

    await eventually(metrics, lambda text: "attractor_ingestion_workers_wanted 3.0" in text)


async def test_lost_events_are_republished(
    upload: Entry, process: Process, neighbours: Any, redis_url: str, detail: Detail, eventually: Any
) -> None:
    neighbours.silent |= {"retrieval", "knowledge-graph"}
    document_id = (await upload())["document"]["id"]
    await process(document_id)
    await eventually(lambda: asyncio.sleep(0, len(neighbours.seen)), lambda seen: seen >= 2)
    neighbours.silent.clear()
    async with Redis.from_url(redis_url) as redis:
        await redis.flushall()
    await eventually(lambda: detail(document_id), lambda now: now["status"] == "searchable")


async def test_the_stage_of_a_lost_worker_is_requeued(
    upload: Entry,
    process: Process,
    neighbours: Any,
    dying: Any,
    detail: Detail,
    eventually: Any,
    converter: Any,
) -> None:
    assert neighbours
    document_id = (await upload())["document"]["id"]
    job = await asyncio.to_thread(dying.lease, document_id)
    assert job is not None
    await process(document_id)  # a duplicate message while the lease is held
    assert converter.conversions == []
    state = await eventually(lambda: detail(document_id), lambda now: convert_stage(now)["status"] == "queued")
    assert (convert_stage(state)["error_class"], convert_stage(state)["attempts"]) == ("worker-lost", 1)
    await process(document_id)
    state = await eventually(lambda: detail(document_id), lambda now: now["status"] == "searchable")
    assert (convert_stage(state)["error_class"], convert_stage(state)["attempts"]) == (None, 2)
    # The lost worker comes back and may no longer write.
    with pytest.raises(LeaseLost):
        await asyncio.to_thread(dying.stages.fail, job, "convert", "late", "Too late.")
    assert (await detail(document_id))["status"] == "searchable"


async def test_a_file_that_kills_its_workers_fails_with_that_reason(
    upload: Entry, dying: Any, detail: Detail, eventually: Any
) -> None:
    document_id = (await upload())["document"]["id"]
    for _ in range(3):
        await eventually(lambda: detail(document_id), lambda now: convert_stage(now)["status"] == "queued")
        assert await asyncio.to_thread(dying.lease, document_id)
    state = await eventually(lambda: detail(document_id), lambda now: now["status"] == "failed")
    assert convert_stage(state)["error_class"] == "worker-lost"
    assert "3 times in a row" in state["explanation"]
