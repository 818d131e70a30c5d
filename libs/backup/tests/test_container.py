"""When the container takes a backup, and what a restore in its middle leaves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from backup.container.serve import BackupService, last_night
from backup.container.settings import ContainerSettings, RestoreSettings
from backup.container.target import EmptyVolumes
from backup.errors import NoMoment, TargetHasData
from backup.restore import parse_moment
from backup.shelf.folder import BackupShelf
from backup.shelf.manifest import BackupManifest, write_manifest
from backup.tools import Tools, connection

NIGHT = datetime(2026, 11, 20, 2, tzinfo=UTC)
STORE = {"s3_endpoint": "localhost:1", "s3_access_key": "a", "s3_secret_key": "b"}
NOBODY = "postgresql://attractor_backup:secret@127.0.0.1:1/attractor"


def tools(tmp_path: Path) -> Tools:
    return Tools(tmp_path, {})


def service(tmp_path: Path, began_at: datetime | None) -> BackupService:
    """Returns a service whose last backup began then, and whose database does not answer."""
    shelf = BackupShelf(tmp_path / "backups")
    if began_at:
        (shelf.path / "a").mkdir(parents=True)
        told = {"name": "a", "kind": "full", "base": None, "log": "a", "version": "0.1.0", "postgres": 18}
        told |= dict.fromkeys(("began_at", "database_at", "finished_at"), began_at)
        told |= {"migrations": {}, "rows": {}, "files": {}} | dict.fromkeys(
            ("objects", "object_bytes", "database_bytes"), 0
        )
        write_manifest(shelf.path / "a", BackupManifest.model_validate(told))
    settings = ContainerSettings.model_validate({**STORE, "database_url": NOBODY})
    return BackupService(settings, tools(tmp_path), shelf)


def restored(tmp_path: Path) -> EmptyVolumes:
    settings = {
        **STORE,
        "admin_database_url": NOBODY,
        "redis_url": "redis://localhost:1/0",
        "pgdata": tmp_path / "data",
    }
    return EmptyVolumes(RestoreSettings.model_validate(settings), tools(tmp_path), tmp_path)


def test_a_night_begins_at_two_oclock() -> None:
    assert last_night(NIGHT) == NIGHT
    assert last_night(NIGHT - timedelta(seconds=1)) == NIGHT - timedelta(days=1)


def test_the_first_backup_is_taken_at_once(tmp_path: Path) -> None:
    assert service(tmp_path, None).is_due(NIGHT + timedelta(hours=9))


def test_a_backup_is_taken_each_night_and_a_missed_one_is_made_up_for(tmp_path: Path) -> None:
    backups = service(tmp_path, NIGHT + timedelta(minutes=1))
    assert not backups.is_due(NIGHT + timedelta(hours=23))
    assert backups.is_due(NIGHT + timedelta(days=1))
    assert backups.is_due(NIGHT + timedelta(days=5, hours=7))


async def test_a_damaged_backup_is_reported_and_ends_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Regression: it ended the container, and with it the copying of the log."""
    backups = service(tmp_path, NIGHT)
    (tmp_path / "backups/a/manifest.json").write_text("{}")
    assert not await backups.back_up_if_due(NIGHT)
    assert "the backup is damaged" in caplog.text


def test_an_incomplete_cluster_has_no_version(tmp_path: Path) -> None:
    """Without it no server starts, so an interrupted restore is never taken for a whole one."""
    target = restored(tmp_path)

    def make(place: Path) -> None:
        place.mkdir()
        for name in ("PG_VERSION", "base", "global"):
            (place / name).touch()

    (target.cluster / "global").mkdir(parents=True)  # in the way of the file
    with pytest.raises(IsADirectoryError):
        target.place_cluster(make)
    assert not (target.cluster / "PG_VERSION").exists()
    (target.cluster / "global").rmdir()
    target.place_cluster(make)
    assert {one.name for one in target.cluster.iterdir()} == {"PG_VERSION", "base", "global"}


def test_a_restore_does_not_overwrite_a_database(tmp_path: Path) -> None:
    target = restored(tmp_path)
    target.cluster.mkdir()
    (target.cluster / "PG_VERSION").touch()
    with pytest.raises(TargetHasData, match=r"data has data \(PG_VERSION\).*remove the volumes"):
        target.refuse_data()


def test_a_password_is_in_no_command_line(tmp_path: Path) -> None:
    assert "secret" not in " ".join(connection(NOBODY))
    assert tools(tmp_path).connecting(NOBODY)["PGPASSWORD"] == "secret"


def test_a_moment_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(NoMoment, match="'yesterday' is no moment"):
        parse_moment("yesterday")
