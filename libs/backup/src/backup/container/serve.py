"""Receives the log continuously, and takes a backup each night and whenever the log has to start again."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta

import psycopg

from backup.container.settings import ContainerSettings
from backup.errors import BackupError
from backup.shelf.folder import BackupShelf
from backup.shelf.log import kept_log, log_folder, receiving
from backup.tools import Tools

log = logging.getLogger(__name__)
NIGHT = time(2, tzinfo=UTC)
AGAIN_SECONDS = 5.0  # as long as pg_receivewal itself waits
AFTER_FAILURE_SECONDS = 600.0


def last_night(now: datetime) -> datetime:
    """Returns the last time at which a backup was due."""
    tonight = datetime.combine(now.astimezone(UTC), NIGHT)
    return tonight if tonight <= now else tonight - timedelta(days=1)


class BackupService:
    """Runs the tools as processes of their own: one that is stopped in its middle leaves nothing that counts."""

    def __init__(self, settings: ContainerSettings, tools: Tools, shelf: BackupShelf) -> None:
        self._settings, self._tools, self._shelf = settings, tools, shelf
        self._url = settings.database_url.get_secret_value()
        self._interrupted = asyncio.Event()

    async def run(self) -> None:
        """Runs until SIGTERM."""
        tasks = asyncio.gather(self._receive(), self._back_up())
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, tasks.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await tasks

    async def _receive(self) -> None:
        """Starts the receiver again in whatever folder the log is now: after an interruption it may be a new one."""
        while True:
            if folder := log_folder(self._shelf.path):
                command = [*receiving(self._tools, self._url, folder), "--no-loop"]
                await ended(command, self._tools.connecting(self._url))
                self._interrupted.set()
            await asyncio.sleep(AGAIN_SECONDS)

    async def _back_up(self) -> None:
        while True:
            if not await self.back_up_if_due(datetime.now(UTC)):
                log.warning("trying again in %.0f s", AFTER_FAILURE_SECONDS)
                await asyncio.sleep(AFTER_FAILURE_SECONDS)
                continue
            now = datetime.now(UTC)
            until_night = last_night(now) + timedelta(days=1) - now
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._interrupted.wait(), until_night.total_seconds())
            self._interrupted.clear()

    async def back_up_if_due(self, now: datetime) -> bool:
        """Returns False if a backup is due and failed; the log is received all the same."""
        try:
            due = await asyncio.to_thread(self.is_due, now)
        except BackupError as error:
            log.warning("%s", error)
            return False
        return not due or await ended([sys.executable, "-m", "backup", "now"]) == 0

    def is_due(self, now: datetime) -> bool:
        """Returns whether a backup is due: after each night, and at once if the log cannot be continued."""
        backups = self._shelf.backups()
        if not backups or backups[-1].began_at < last_night(now):
            return True
        try:
            with psycopg.connect(self._url) as connection:
                return kept_log(connection, self._shelf.path, self._shelf.path) is None
        except psycopg.OperationalError as error:
            log.warning("PostgreSQL does not respond: %s", str(error).partition("\n")[0])
            return False  # asked again when the receiver, which cannot connect either, ends the next time


async def ended(command: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
    """Runs a command to its end; returns the exit code. A cancellation ends the command."""
    async with _running(command, environment) as process:
        return await process.wait()


@contextlib.asynccontextmanager
async def _running(
    command: Sequence[str], environment: Mapping[str, str] | None
) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(*command, env=environment)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
