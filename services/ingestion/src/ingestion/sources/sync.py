"""Runs a synchronisation that is queued: holds it with a heartbeat, and records how it ends."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from pydantic import TypeAdapter, ValidationError

from contracts.sources import SourceConfig, SyncStatus
from ingestion.documents.intake import Intake, SourceGone
from ingestion.sources.kinds import kind_module
from ingestion.sources.queue import Leases, SyncLost
from ingestion.sources.run import Limits, SyncRun, fingerprints
from ingestion.sources.settings import SourceSettings
from ingestion.sources.source import SourceRefused, SourceUnavailable
from ingestion.sources.statements import SQL
from service_kit.postgres import Database
from service_kit.problems import Unavailable

log = logging.getLogger(__name__)
BEATS_PER_LEASE = 10
KEPT_SYNCS = 20
FIRST_DELAY_SECONDS, LONGEST_DELAY_SECONDS = 5.0, 300.0
CONFIG: TypeAdapter[Any] = TypeAdapter(SourceConfig)
UNEXPECTED = "The synchronisation ended with an unexpected error ({}); the worker's log says more."


class Stopped(Exception):
    """The worker is shutting down."""


@dataclass(frozen=True)
class Policy:
    """`max_attempts`: how often a synchronisation is begun while a store is away before it fails."""

    lease_seconds: float
    max_attempts: int
    max_file_bytes: int
    work_folder: Path


class Synchroniser:
    """Synchronises sources, several at once on one event loop. `stopping` tells when to put the work back."""

    def __init__(
        self,
        database: Database,
        intake: Intake,
        leases: Leases,
        settings: SourceSettings,
        policy: Policy,
        stopping: Callable[[], bool],
    ) -> None:
        self.database, self.intake, self.leases, self.settings = database, intake, leases, settings
        self.policy, self.stopping = policy, stopping

    async def synchronise(self, workspace_id: UUID, sync_id: UUID) -> None:
        """Does nothing when another worker has it, or it cannot begin yet: a message too many is harmless.

        Every end is recorded. Raises only when the database is away: the lease ends then.
        """
        held = None if self.stopping() else await self.leases.take(workspace_id, sync_id)
        if held is None:
            return
        with tempfile.TemporaryDirectory(
            prefix="sync-", dir=self.policy.work_folder, ignore_cleanup_errors=True
        ) as folder:
            limits = Limits(self.policy.max_file_bytes, self.settings.source_max_files)
            run = SyncRun(self.database, self.intake, held, limits, Path(folder))
            try:
                await self._attempt(run)
            except (SyncLost, SourceGone):
                log.info("synchronisation lost", extra={"sync_id": str(sync_id)})
                return
        log.info("synchronised", extra={"sync_id": str(sync_id), "source_id": str(held.source_id)})

    async def _attempt(self, run: SyncRun) -> None:
        try:
            await self._held(run)
        except (SyncLost, SourceGone):
            raise
        except Stopped:
            await self.leases.release(run.held, 0, None, None)
        except SourceUnavailable as error:
            await self._finish(run, SyncStatus.failed, error.slug, error.message)
        except (Unavailable, psycopg.OperationalError) as error:
            await self._postpone(run, error)
        except Exception as error:
            # The boundary of a task: whatever it is, it is recorded with the synchronisation, and the worker goes on.
            log.exception("synchronisation failed", extra={"sync_id": str(run.held.id)})
            await self._finish(run, SyncStatus.failed, "unexpected", UNEXPECTED.format(type(error).__name__))
        else:
            await self._finish(run, SyncStatus.succeeded, None, None)

    async def _held(self, run: SyncRun) -> None:
        """The work, with a heartbeat beside it, which ends it when the lease is lost or the worker stops."""
        work = asyncio.create_task(self._work(run))
        beat = asyncio.create_task(self._keep_beating(run))
        try:
            await asyncio.wait({work, beat}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _ended({work, beat})
        for task in (beat, work):
            if not task.cancelled():
                task.result()

    async def _work(self, run: SyncRun) -> None:
        held = run.held
        try:
            config = CONFIG.validate_python(held.config)
        except ValidationError as error:
            raise SourceUnavailable("bad-config", "The source's configuration is not valid any more.") from error
        known = await run.known()
        scratch = run.scratch / "reader"
        scratch.mkdir()
        try:
            opened = kind_module(config.kind).open_reader(config, self.settings, fingerprints(known.values()), scratch)
            async with opened as reader:
                await run.synchronise(reader, known)
        except SourceRefused as error:
            raise SourceUnavailable(error.type, error.detail or error.title) from error

    async def _keep_beating(self, run: SyncRun) -> None:
        """Returns never; raises SyncLost and Stopped."""
        loop = asyncio.get_running_loop()
        seen, pause = loop.time(), self.policy.lease_seconds / BEATS_PER_LEASE
        while True:
            await asyncio.sleep(pause)
            if self.stopping():
                raise Stopped
            try:
                alive = await self.leases.beat(run.held, run.counts)
            except (Unavailable, psycopg.OperationalError) as error:
                log.warning("no heartbeat", extra={"sync_id": str(run.held.id), "reason": str(error)})
                # Without the database nobody else can have taken it; with it back, the next beat tells.
                alive = loop.time() - seen < self.policy.lease_seconds
            else:
                seen = loop.time()
            if not alive:
                raise SyncLost

    async def _postpone(self, run: SyncRun, error: Exception) -> None:
        """A store is away: later again, with growing delays; after too many tries it has failed."""
        held, message = run.held, "A store was away; the synchronisation goes on by itself."
        log.warning("synchronisation postponed", extra={"sync_id": str(held.id), "reason": str(error)})
        if held.attempts >= self.policy.max_attempts:
            await self._finish(run, SyncStatus.failed, "store-unavailable", f"A store was away {held.attempts} times.")
            return
        delay = min(FIRST_DELAY_SECONDS * 2 ** (held.attempts - 1), LONGEST_DELAY_SECONDS)
        await self.leases.release(held, delay, "store-unavailable", message)

    async def _finish(self, run: SyncRun, status: SyncStatus, error_class: str | None, message: str | None) -> None:
        """Raises SyncLost. A failure of the source has a next time; a dry run has none, and leaves no trace."""
        held = run.held
        with suppress(psycopg.OperationalError, Unavailable):
            await run.changes.flush()
        if not await self.leases.beat(held, run.counts):
            raise SyncLost
        async with self.database.workspace(held.workspace_id) as connection:
            values = {**held.key, "status": status, "error_class": error_class, "error_message": message}
            if not (await connection.execute(SQL["finish_sync"], values)).rowcount:
                raise SyncLost
            if not held.dry_run:
                statement = "source_succeeded" if status is SyncStatus.succeeded else "source_failed"
                await connection.execute(SQL[statement], {**held.key, "place": run.place})
            await connection.execute(SQL["forget_syncs"], {**held.key, "kept": KEPT_SYNCS})


async def _ended(tasks: set[asyncio.Task[None]]) -> None:
    """Cancels what still runs; again, as asyncio.wait_for, inside libraries, loses one before Python 3.12."""
    pending = {task for task in tasks if not task.done()}
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=1)
