"""The age of the last backup, and how far the copy of the database's log is behind."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.core import Metric

from service_kit.postgres import Database
from service_kit.readings import Reading, gauge
from service_kit.repository import SystemRepository

AGE = "SELECT extract(epoch FROM now() - max(finished_at)) FROM backup"
# If the server had to give up the log because its receiver was away for too long, the backup is infinitely behind.
BEHIND = """
    SELECT coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::double precision, 'Infinity')
    FROM pg_replication_slots WHERE slot_name = 'attractor_backup'
"""


def backup_reading(database: Database) -> Reading:
    """Returns a reading of both; without any backup there are no gauges."""

    async def read() -> Iterable[Metric]:
        async with database.system() as connection:
            repository = SystemRepository(connection)
            age, behind = await repository.value(AGE), await repository.value(BEHIND)
        found = []
        if age is not None:
            found.append(gauge("attractor_backup_age_seconds", "Age of the last finished backup", float(age)))
        if behind is not None:
            what = "Bytes of the database's log that are not in the backups' copy yet"
            found.append(gauge("attractor_backup_log_behind_bytes", what, float(behind)))
        return found

    return read
