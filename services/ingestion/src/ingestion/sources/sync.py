"""Runs the synchronisation that a worker holds, and records its result."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg.errors import UniqueViolation
from pydantic import TypeAdapter, ValidationError

from contracts.backoff import backoff
from contracts.sources import SourceConfig, SyncStatus
from ingestion.documents.intake import Intake, SourceGone
from ingestion.sources.administrator import reach_of
from ingestion.sources.kinds import kind_module
from ingestion.sources.run import SliceOver, SyncLimits, SyncRun, fingerprints
from ingestion.sources.settings import SourceSettings
from ingestion.sources.source import SourceRefused, SourceUnavailable
from ingestion.sources.sources import Sources
from ingestion.sources.syncs import SUPERSEDED, HeldSync, Syncs
from service_kit.background import stopped
from service_kit.postgres import Database
from service_kit.problems import Unavailable
from service_kit.work import LeaseLost, WorkQueue
from service_kit.worker import while_held

log = logging.getLogger(__name__)
STOP_LOOK_SECONDS = 0.5
KEPT_SYNCS = 20
FIRST_DELAY_SECONDS, LONGEST_DELAY_SECONDS = 5.0, 300.0
CONFIG: TypeAdapter[Any] = TypeAdapter(SourceConfig)
UNEXPECTED = "The synchronisation failed with an unexpected error ({}); the worker's log has the details."
POSTPONED = "A store was unavailable; the synchronisation continues automatically."


class Stopped(Exception):
    """The worker is shutting down."""


@dataclass(frozen=True)
class SyncPolicy:
    """`max_attempts` is how often a synchronisation is tried while a store is unavailable, before it fails."""

    max_attempts: int
    max_file_bytes: int
    work_folder: Path


class Synchroniser:
    """Synchronises sources, several at once on one event loop, until `stopping`; then the work returns to the queue."""

    def __init__(
        self,
        database: Database,
        intake: Intake,
        queue: WorkQueue[HeldSync],
        settings: SourceSettings,
        policy: SyncPolicy,
        stopping: Callable[[], bool],
    ) -> None:
        self.database, self.intake, self.queue, self.settings = database, intake, queue, settings
        self.policy, self.stopping = policy, stopping

    async def claim(self) -> HeldSync | None:
        """Leases a synchronisation that is due; returns None without one, or if the worker is stopping."""
        try:
            found = [] if self.stopping() else await self.queue.claim(1)
        except UniqueViolation:  # another one of the same source was leased at the same moment
            return None
        return found[0] if found else None

    async def synchronise(self, held: HeldSync) -> None:
        """Synchronises a source and records the result. Raises only if the database is down; the lease then expires."""
        with tempfile.TemporaryDirectory(
            prefix="sync-", dir=self.policy.work_folder, ignore_cleanup_errors=True
        ) as folder:
            settings = self.settings
            limits = SyncLimits(self.policy.max_file_bytes, settings.source_max_files, settings.source_slice_seconds)
            run = SyncRun(self.database, self.intake, held, limits, Path(folder))
            try:
                await self._attempt(run)
            except (LeaseLost, SourceGone):
                log.info("lost the lease of a synchronisation", extra={"sync_id": str(held.id)})
                return
        log.info("source synchronised", extra={"sync_id": str(held.id), "source_id": str(held.source_id)})

    async def _attempt(self, run: SyncRun) -> None:
        def progress() -> dict[str, object]:
            return {"heartbeat_at": datetime.now(UTC), **asdict(run.counts)}

        try:
            await while_held(self.queue, run.held, self._unless_stopping(run), progress)
        except (LeaseLost, SourceGone):
            raise
        except (Stopped, SliceOver):
            await self._release(run, refund=True)
        except SourceUnavailable as error:
            await self._finish(run, SyncStatus.failed, error.slug, error.message)
        except (Unavailable, psycopg.OperationalError) as error:
            await self._postpone(run, error)
        except Exception as error:
            # The task's boundary: any error is recorded with the synchronisation, and the worker continues.
            log.exception("synchronisation failed", extra={"sync_id": str(run.held.id)})
            await self._finish(run, SyncStatus.failed, "unexpected", UNEXPECTED.format(type(error).__name__))
        else:
            await self._finish(run, SyncStatus.succeeded, None, None)

    async def _unless_stopping(self, run: SyncRun) -> None:
        """Raises Stopped soon after the worker begins to shut down."""
        work = asyncio.create_task(self._work(run))
        try:
            while not work.done():
                if self.stopping():
                    raise Stopped
                await asyncio.wait({work}, timeout=STOP_LOOK_SECONDS)
        finally:
            await stopped(work)
        work.result()

    async def _work(self, run: SyncRun) -> None:
        held = run.held
        try:
            config = CONFIG.validate_python(held.config)
        except ValidationError as error:
            raise SourceUnavailable("bad-config", "The source's configuration is no longer valid.") from error
        async with self.database.workspace(held.workspace_id) as connection:
            reach = await reach_of(connection, held.workspace_id, self.settings)
        known = await run.known()
        scratch = run.scratch / "reader"
        scratch.mkdir()
        try:
            opened = kind_module(config.kind).open_reader(config, reach, fingerprints(known.values()), scratch)
            async with opened as reader:
                await run.synchronise(reader, known)
        except SourceRefused as error:
            raise SourceUnavailable(error.type, error.detail or error.title) from error

    async def _postpone(self, run: SyncRun, error: Exception) -> None:
        """Retries later, with growing delays, because a store is unavailable; fails after too many attempts."""
        held = run.held
        log.warning("synchronisation postponed", extra={"sync_id": str(held.id), "reason": str(error)})
        if held.attempts >= self.policy.max_attempts:
            message = f"A store was unavailable {held.attempts} times."
            await self._finish(run, SyncStatus.failed, "store-unavailable", message)
            return
        delay = backoff(held.attempts, FIRST_DELAY_SECONDS, LONGEST_DELAY_SECONDS)
        await self._release(run, delay, error_class="store-unavailable", error_message=POSTPONED)

    async def _release(
        self,
        run: SyncRun,
        delay: float = 0.0,
        *,
        refund: bool = False,
        error_class: str | None = None,
        error_message: str | None = None,
    ) -> None:
        """Returns it to the queue, unless another one of the same source already waits and will do the rest."""
        held = run.held
        columns = {"error_class": error_class, "error_message": error_message, **asdict(run.counts)}
        try:
            async with self.database.workspace(held.workspace_id) as connection:
                await self.queue.release(connection, held, delay_seconds=delay, refund=refund, **columns)
        except UniqueViolation:
            columns = {"error_class": "superseded", "error_message": SUPERSEDED}
            async with self.database.workspace(held.workspace_id) as connection:
                await self.queue.finish(connection, held, SyncStatus.cancelled, **columns)

    async def _finish(self, run: SyncRun, status: SyncStatus, error_class: str | None, message: str | None) -> None:
        """Records the result; raises LeaseLost. The source is updated and its next run planned, except by a dry run."""
        held = run.held
        with suppress(psycopg.OperationalError, Unavailable):
            await run.changes.flush()
        async with self.database.workspace(held.workspace_id) as connection:
            columns = {"error_class": error_class, "error_message": message, **asdict(run.counts)}
            await self.queue.finish(connection, held, status, **columns)
            sources = Sources(connection, held.workspace_id)
            if status is SyncStatus.succeeded and not held.dry_run:
                await sources.succeeded(held.source_id, run.place)
            elif not held.dry_run:
                await sources.failed(held.source_id)
            await Syncs(connection, held.workspace_id).delete_old(held.source_id, KEPT_SYNCS)
