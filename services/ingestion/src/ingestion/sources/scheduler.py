"""The scheduler's process: Celery beat for what is due, and beside it the watcher of folders."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import tempfile
import time
from pathlib import Path

from pydantic import Field

from ingestion.sources.beat import keep_beating
from ingestion.sources.due import mark_stale, queue_due
from ingestion.sources.settings import FolderSettings
from ingestion.sources.watch import FolderWatcher, Watching
from service_kit.background import Background
from service_kit.notifications import Notifications
from service_kit.postgres import Database
from service_kit.settings import DatabaseSettings
from service_kit.telemetry import Metrics, configure_telemetry

log = logging.getLogger(__name__)
SOURCE_CHANNEL = "ingestion_source"
HEALTHY_SECONDS = 60.0


class SchedulerSettings(DatabaseSettings, FolderSettings):
    """`watch_polling`: for network mounts, where the file system tells of no changes. See `Watching`."""

    log_level: str = "INFO"
    otel_exporter_otlp_endpoint: str | None = None
    schedule_seconds: float = Field(default=5.0, gt=0, description="Between two looks for what is due")
    watch_polling: bool = False
    watch_poll_seconds: float = Field(default=5.0, gt=0)
    watch_quiet_seconds: float = Field(default=1.0, gt=0)
    watch_longest_seconds: float = Field(default=30.0, gt=0)
    scheduler_health_file: Path = Path(tempfile.gettempdir()) / "attractor-ingestion-scheduler.alive"

    @property
    def watching(self) -> Watching:
        return Watching(
            self.source_roots,
            self.watch_polling,
            self.watch_poll_seconds,
            self.watch_quiet_seconds,
            self.watch_longest_seconds,
        )


def run_scheduler() -> None:
    """Blocks until SIGTERM or SIGINT."""
    settings = SchedulerSettings()
    configure_telemetry("ingestion-scheduler", settings.log_level, settings.otel_exporter_otlp_endpoint)
    for noisy in ("celery.beat", "watchfiles"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    asyncio.run(_until_stopped(settings))
    log.info("stopped")


async def _until_stopped(settings: SchedulerSettings) -> None:
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    await schedule(settings, stopped)


async def schedule(settings: SchedulerSettings, stopped: asyncio.Event) -> None:
    """Schedules and watches until `stopped` is set. Any number of schedulers may run."""
    url = settings.database_url.get_secret_value()
    notifications = Notifications(url, SOURCE_CHANNEL)
    async with Database(url, settings.database_pool_size).opened() as database:

        async def work() -> None:
            queued, stale = await queue_due(database), await mark_stale(database)
            if queued or stale:
                log.info("due", extra={"queued": queued, "stale_documents": stale})
            settings.scheduler_health_file.touch()

        watcher = FolderWatcher(database, notifications, SOURCE_CHANNEL, settings.watching)
        async with Background(Metrics()) as background:
            background.start("notifications", notifications.run)
            background.start("beat", lambda: keep_beating(work, settings.schedule_seconds))
            background.start("watcher", watcher.run)
            log.info("scheduling", extra={"roots": [str(root) for root in settings.source_roots]})
            await stopped.wait()


def check_scheduler() -> None:
    """Exits with 1 when the scheduler of this container has not been in touch with the database for a while."""
    try:
        age = time.time() - SchedulerSettings().scheduler_health_file.stat().st_mtime
    except FileNotFoundError:
        age = float("inf")
    if age > HEALTHY_SECONDS:
        sys.stderr.write("the scheduler shows no sign of life\n")
        sys.exit(1)
