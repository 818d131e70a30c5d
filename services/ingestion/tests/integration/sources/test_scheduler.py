"""Scheduling: sources that are due, folders that have changed, and sources unseen for too long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ingestion.settings import Settings
from ingestion.sources.scheduler import Scheduler
from ingestion.sources.settings import SourceRoot
from ingestion.sources.watch import SOURCE_CHANNEL, FolderWatcher
from service_kit.background import Background
from service_kit.notifications import Notifications
from service_kit.postgres import Database
from service_kit.telemetry import Metrics

MakeSource = Callable[..., Awaitable[Any]]
Scheduling = Callable[..., Any]


@pytest.fixture
def scheduler(settings: Settings, documents: Path) -> Scheduling:
    """`async with scheduler()` runs the background tasks of one replica of the API."""

    @asynccontextmanager
    async def run(**changed: Any) -> AsyncIterator[None]:
        roots = (SourceRoot(path=documents.parent, workspaces=("*",)),)
        options = settings.model_copy(update={"source_roots": roots, "watch_quiet_seconds": 0.3, **changed})
        url = settings.database_url.get_secret_value()
        notifications = Notifications(url, SOURCE_CHANNEL)
        async with Database(url, 4).opened() as database, Background(Metrics()) as background:
            watcher = FolderWatcher(database, notifications, options, options)
            background.start("notifications", notifications.run)
            background.start("scheduler", Scheduler(database, 0.2).run)
            background.start("watcher", watcher.run)
            yield
            assert not background.failing

    return run


async def followed(source: Any, eventually: Any, paths: set[str]) -> None:
    """Runs queued synchronisations until the documents are these."""

    async def found() -> set[str]:
        await source.work()
        return set(await source.documents())

    await eventually(found, lambda now: now == paths)


@pytest.mark.parametrize("polling", [False, True])
async def test_a_watched_folder_is_synchronised_without_a_request(
    polling: bool, make_source: MakeSource, documents: Path, scheduler: Scheduling, eventually: Any
) -> None:
    (documents / "a.md").write_text("one")
    source = await make_source()
    async with scheduler(watch_polling=polling, watch_poll_seconds=0.3):
        await followed(source, eventually, {"a.md"})  # existed before the folder was watched
        (documents / "deep").mkdir()
        (documents / "deep" / "b.md").write_text("two")
        await followed(source, eventually, {"a.md", "deep/b.md"})
        (documents / "deep").rename(documents / "moved")
        await followed(source, eventually, {"a.md", "moved/b.md"})
        (documents / "a.md").unlink()
        await followed(source, eventually, {"moved/b.md"})
        assert (await source.get())["last_sync"]["trigger"] == "watch"


async def test_a_burst_of_changes_causes_few_synchronisations(
    make_source: MakeSource, documents: Path, scheduler: Scheduling, eventually: Any
) -> None:
    source = await make_source()
    async with scheduler(watch_quiet_seconds=2.0):
        await eventually(source.work, lambda done: done == 1)
        for number in range(40):
            (documents / f"{number}.md").write_text(f"text {number}")
            await asyncio.sleep(0.02)
        await followed(source, eventually, {f"{number}.md" for number in range(40)})
        syncs = (await source.client.get(f"{source.path}/syncs")).json()["items"]
        assert len(syncs) < 10  # few, even if the machine stalls between two writes


async def test_a_folder_that_reappears_is_watched_again(
    make_source: MakeSource, documents: Path, scheduler: Scheduling, eventually: Any
) -> None:
    (documents / "a.md").write_text("one")
    source = await make_source()
    async with scheduler():
        await followed(source, eventually, {"a.md"})
        documents.rename(documents.parent / "away")  # noqa: ASYNC240  done at once

        async def ended() -> str:
            await source.work()
            return str((await source.get())["last_sync"]["status"])

        await eventually(ended, lambda status: status == "failed")
        assert set(await source.documents()) == {"a.md"}
        (documents.parent / "away" / "b.md").write_text("two")
        (documents.parent / "away").rename(documents)
        await followed(source, eventually, {"a.md", "b.md"})


async def test_two_schedulers_queue_due_work_once(
    make_source: MakeSource, documents: Path, scheduler: Scheduling, eventually: Any, database: Any
) -> None:
    (documents / "a.md").write_text("one")
    config = {"kind": "folder", "path": str(documents), "watch": False}
    source = await make_source(config=config, every_seconds=3600)
    paused = await make_source(config=config, every_seconds=3600)
    await paused.client.patch(paused.path, json={"paused": True})
    await source.sync()
    async with AsyncExitStack() as both:
        for _ in range(2):
            await both.enter_async_context(scheduler())
        with psycopg.connect(database.admin, autocommit=True) as connection:
            connection.execute("UPDATE ingestion.source SET next_sync_at = now()")
        await eventually(source.work)
        await asyncio.sleep(1)
        assert await source.work() == 0
    syncs = (await source.client.get(f"{source.path}/syncs")).json()["items"]
    assert [one["trigger"] for one in syncs] == ["schedule", "request"]
    assert (await source.get())["next_sync_at"] is not None
    assert (await paused.get())["next_sync_at"] is None


async def test_documents_of_an_unreachable_source_become_stale(
    make_source: MakeSource, documents: Path, scheduler: Scheduling, eventually: Any, database: Any, upload: Any
) -> None:
    (documents / "a.md").write_text("one")
    (documents / "b.md").write_text("two")
    source = await make_source(
        config={"kind": "folder", "path": str(documents), "watch": False}, stale_after_seconds=3600
    )
    await source.sync()
    await upload("b.md", b"two")  # now b.md has another origin
    async with scheduler():
        with psycopg.connect(database.admin, autocommit=True) as connection:
            connection.execute("UPDATE ingestion.source SET last_success_at = now() - interval '2 hours'")
        found = await eventually(source.documents, lambda now: now["a.md"]["stale_at"] is not None)
        assert found["b.md"]["stale_at"] is None
    await source.sync()
    assert (await source.documents())["a.md"]["stale_at"] is None
