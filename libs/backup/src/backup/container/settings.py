"""ContainerSettings of the container; the one place that reads its environment."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from service_kit.settings import ObjectStoreSettings, PostgresUrl, RedisUrl

SHELF = Path("/backups")


class ContainerSettings(ObjectStoreSettings):
    """Backups are kept in /backups."""

    database_url: PostgresUrl
    """The database, as the role of backups"""
    backup_days: int = Field(default=14, gt=0)
    """Days of which any moment can be restored; older backups are deleted"""


class RestoreSettings(ObjectStoreSettings):
    """Backups are read from /backups."""

    admin_database_url: PostgresUrl
    """The superuser, whose password the restored database gets"""
    redis_url: RedisUrl
    """Redis, as the administrator: it is emptied"""
    pgdata: Path
    """The folder of the database's cluster, empty until it is restored; set by PostgreSQL's image"""
