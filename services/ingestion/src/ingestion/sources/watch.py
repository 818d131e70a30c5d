"""Watches the folders of sources, and queues a synchronisation soon after a change in one."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import anyio.to_thread
from watchfiles import Change, awatch

from ingestion.sources.administrator import reach_of
from ingestion.sources.allowed_paths import NotAllowed, located
from ingestion.sources.selection import Selection
from ingestion.sources.settings import ScheduleSettings, SourceSettings
from ingestion.sources.sources import AllSources, WatchedFolder
from ingestion.sources.syncs import Syncs
from service_kit.background import stopped
from service_kit.notifications import Notifications
from service_kit.postgres import Database

log = logging.getLogger(__name__)
SOURCE_CHANNEL = "ingestion_source"
RELOAD_SECONDS = 30.0
LOOK_SECONDS = 5.0
# Each watched folder occupies a thread.
THREADS = 2000
Changes = set[tuple[Change, str]]


def concerns(change: Change, path: str, root: Path, selection: Selection) -> bool:
    """Returns False for changes that no synchronisation would see: hidden, excluded or unsupported files."""
    if not Path(path).is_relative_to(root):
        return False
    relative = Path(path).relative_to(root).as_posix()
    if selection.wants(relative):
        return True
    # A path that was removed or moved away may have been a folder.
    return (change is Change.deleted or os.path.isdir(path)) and selection.enters(relative)


class FolderWatcher:
    """A background task of the API process. Several replicas do no harm: a source has one waiting synchronisation.

    After a change, a synchronisation is queued once the folder has been quiet for `watch_quiet_seconds`, or after
    `watch_longest_seconds` at the latest.
    """

    def __init__(
        self, database: Database, notifications: Notifications, places: SourceSettings, settings: ScheduleSettings
    ) -> None:
        self.database, self.notifications, self.places, self.settings = database, notifications, places, settings
        self.tasks: dict[UUID, tuple[WatchedFolder, asyncio.Task[None]]] = {}

    async def run(self) -> None:
        """Runs until cancelled; adapts as sources are added, changed and removed."""
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        try:
            async with self.notifications.subscribe(SOURCE_CHANNEL) as changed:
                while True:
                    await self._adjust({source.id: source for source in await self._wanted()})
                    await changed.wait(RELOAD_SECONDS)
        finally:
            await self._end(list(self.tasks))

    async def _wanted(self) -> list[WatchedFolder]:
        async with self.database.system() as connection:
            return await AllSources(connection).watched()

    async def _adjust(self, wanted: dict[UUID, WatchedFolder]) -> None:
        await self._end([one for one, (source, _) in self.tasks.items() if wanted.get(one) != source])
        for source in wanted.values():
            if source.id not in self.tasks:
                self.tasks[source.id] = (source, asyncio.create_task(self._keep_watching(source)))

    async def _end(self, source_ids: list[UUID]) -> None:
        await stopped(*[self.tasks.pop(one)[1] for one in source_ids])

    async def _keep_watching(self, source: WatchedFolder) -> None:
        polling = self.settings.watch_polling
        while True:
            try:
                await self._watch(source, polling)
            except (OSError, NotAllowed) as error:  # missing, or no longer allowed; it may come back
                log.info("folder not watched", extra={"source_id": str(source.id), "reason": str(error)})
            except Exception as error:  # noqa: BLE001  the system's limit of watches, and any other failure of them
                log.warning(
                    "folder cannot be watched; polling it", extra={"source_id": str(source.id), "reason": str(error)}
                )
                polling = True
            await asyncio.sleep(LOOK_SECONDS)

    async def _watch(self, source: WatchedFolder, polling: bool) -> None:
        """Watches until the folder is gone or replaced by another; raises OSError if it is not there at first."""
        path = source.config["path"]
        async with self.database.workspace(source.workspace_id) as connection:
            reach = await reach_of(connection, source.workspace_id, self.places)
        root = await asyncio.to_thread(located, path, reach.roots)
        identity = await asyncio.to_thread(_identity, root)
        selection = Selection(source.config["include"], source.config["exclude"])
        log.info("watching folder", extra={"source_id": str(source.id), "polling": polling})
        since, caught_up = datetime.now(UTC), False
        async with aclosing(self._changes(root, polling)) as batches:
            async for changes in batches:
                if await asyncio.to_thread(_identity, root) != identity:
                    await self._queue(source, datetime.now(UTC))  # if it fails, users see the reason
                    return
                if any(concerns(change, one, root, selection) for change, one in changes):
                    await self._queue(source, datetime.now(UTC))
                elif not caught_up:
                    await self._queue(source, since)  # for changes made before it was watched
                caught_up = True

    def _changes(self, root: Path, polling: bool) -> AsyncGenerator[Changes]:
        """Yields changes, and an empty set every LOOK_SECONDS, so that the folder itself is checked."""
        return awatch(
            root,
            watch_filter=None,
            debounce=int(self.settings.watch_longest_seconds * 1000),
            step=int(self.settings.watch_quiet_seconds * 1000),
            rust_timeout=int(LOOK_SECONDS * 1000),
            yield_on_timeout=True,
            force_polling=polling,
            poll_delay_ms=int(self.settings.watch_poll_seconds * 1000),
            ignore_permission_denied=True,
        )

    async def _queue(self, source: WatchedFolder, since: datetime) -> None:
        async with self.database.workspace(source.workspace_id) as connection:
            if await Syncs(connection, source.workspace_id).queue_watched(source.id, since):
                log.info("folder changed", extra={"source_id": str(source.id)})


def _identity(root: Path) -> tuple[int, int] | None:
    try:
        state = root.stat()
    except OSError:
        return None
    return state.st_dev, state.st_ino
