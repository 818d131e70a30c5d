"""Backups: what is kept, what a restore needs, and what is refused before anything is written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from backup.errors import (
    BackupIsNewer,
    DamagedBackup,
    MomentToCome,
    NoBackup,
    TargetHasData,
)
from backup.restore import restore
from backup.shelf.folder import BackupShelf, needed
from backup.shelf.log import SEGMENT_BYTES, Segment, lay_down, segment_number, segments
from backup.shelf.manifest import BackupManifest, CopiedObject, read_manifest, write_manifest, write_objects
from backup.shelf.object_copies import as_of_moment
from embedded.backups.state import begin_restore, copied_at, end_copying, end_restore
from embedded.backups.target import EmptyDataFolder
from embedded.backups.tools import tools
from embedded.data_folder import DataFolder
from embedded.errors import RestoreUnfinished
from embedded.progress import StartProgress

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def manifest(name: str, at: datetime, **other: object) -> BackupManifest:
    told: dict[str, object] = {
        "kind": "full", "base": None, "log": name, "version": "0.1.0", "postgres": 18, "migrations": {}, "rows": {},
        "began_at": at, "database_at": at, "finished_at": at, "objects": 0, "object_bytes": 0, "database_bytes": 0,
        "files": {},
    }  # fmt: skip
    return BackupManifest.model_validate({"name": name, **told, **other})


def stored(shelf: BackupShelf, backup: BackupManifest) -> Path:
    folder = shelf.folder(backup.name)
    (folder / "database").mkdir(parents=True)
    write_objects(folder, [])
    write_manifest(folder, backup)
    return folder


def copied(key: str, sha256: str, at: datetime) -> CopiedObject:
    return CopiedObject(key=key, sha256=sha256, size=1, etag="e", modified=at)


def test_backups_needed_for_the_kept_days_are_not_deleted() -> None:
    days = [NOON + timedelta(days=number) for number in range(6)]
    backups = [
        manifest("a", days[0]),
        manifest("b", days[1], kind="incremental", base="a", log="a"),
        manifest("c", days[2], kind="incremental", base="a", log="a"),
        manifest("d", days[4]),
    ]
    assert [one.name for one in needed(backups, days[3])] == ["a", "c", "d"]
    assert [one.name for one in needed(backups, days[5])] == ["d"]


def test_objects_at_a_point_in_time_come_from_the_backups_around_it() -> None:
    earlier, later = NOON - timedelta(hours=1), NOON + timedelta(hours=1)
    before = {"kept": copied("kept", "1", earlier), "deleted": copied("deleted", "2", earlier)}
    after = {"kept": copied("kept", "3", later), "new": copied("new", "4", earlier)}
    found = as_of_moment(before, after, NOON)
    assert {key: one.sha256 for key, one in found.items()} == {"kept": "1", "deleted": "2", "new": "4"}


def test_a_tampered_manifest_is_refused(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest("a", NOON))
    assert read_manifest(tmp_path) == manifest("a", NOON)
    file = tmp_path / "manifest.json"
    file.write_text(file.read_text().replace('"version": "0.1.0"', '"version": "0.0.9"'))
    with pytest.raises(DamagedBackup, match=r"manifest.json: its checksum differs"):
        read_manifest(tmp_path)


def test_a_missing_log_segment_is_reported(tmp_path: Path) -> None:
    names = [Segment(1, number, True, tmp_path).name for number in (254, 255, 256, 257)]
    assert names[2] == "000000010000000100000000"
    assert segment_number("1/00000028") == 256
    for name in [*names[:3], f"{names[3]}.partial"]:
        with (tmp_path / name).open("wb") as file:
            file.truncate(SEGMENT_BYTES)
    assert [one.number for one in segments(tmp_path, 1, 255)] == [255, 256, 257]
    (tmp_path / names[2]).unlink()
    with pytest.raises(DamagedBackup, match=rf"{names[2]}: it is missing"):
        segments(tmp_path, 1, 255)


def test_the_more_complete_copy_of_a_log_segment_is_kept(tmp_path: Path) -> None:
    log, cluster = tmp_path / "log", tmp_path / "cluster"
    log.mkdir()
    (cluster / "pg_wal").mkdir(parents=True)
    for number, received, brought in ((1, b"ab\0", b"a\0\0"), (2, b"a\0\0", b"ab\0")):
        segment = Segment(1, number, False, log / str(number))
        segment.file.write_bytes(received)
        (cluster / "pg_wal" / segment.name).write_bytes(brought)
        lay_down([segment], cluster)
        assert (cluster / "pg_wal" / segment.name).read_bytes() == b"ab\0"


@pytest.mark.parametrize(
    ("other", "why"),
    [({"version": "99.0.0"}, "version 99.0.0"), ({"migrations": {"memory": ["memory/9999_new.sql"]}}, "9999_new")],
)
def test_a_backup_from_a_newer_version_is_refused(tmp_path: Path, other: dict[str, object], why: str) -> None:
    shelf = BackupShelf(tmp_path / "backups")
    stored(shelf, manifest("a", NOON, **other))
    with pytest.raises(BackupIsNewer, match=why):
        restore(EmptyDataFolder(DataFolder(tmp_path / "data")), tools(), shelf, None, StartProgress())
    assert not (tmp_path / "data").exists()


def test_a_point_in_time_without_a_backup_is_refused(tmp_path: Path) -> None:
    shelf, folder = BackupShelf(tmp_path / "backups"), EmptyDataFolder(DataFolder(tmp_path / "data"))
    with pytest.raises(NoBackup, match="BACKUP_FOLDER"):
        restore(folder, tools(), shelf, None, StartProgress())
    stored(shelf, manifest("a", NOON))
    with pytest.raises(NoBackup, match="the earliest moment is 2026-11-20 12:00"):
        restore(folder, tools(), shelf, NOON - timedelta(minutes=1), StartProgress())
    with pytest.raises(MomentToCome):
        restore(folder, tools(), shelf, datetime.now(UTC) + timedelta(hours=1), StartProgress())


def test_existing_data_is_never_overwritten(tmp_path: Path) -> None:
    folder = EmptyDataFolder(DataFolder(tmp_path))
    (tmp_path / "secrets.json").write_text("{}")
    with pytest.raises(TargetHasData, match=r"has data \(secrets.json\).*make reset"):
        restore(folder, tools(), BackupShelf(tmp_path / "backups"), None, StartProgress())


def test_half_restored_data_is_not_started(tmp_path: Path) -> None:
    assert copied_at(tmp_path) is None
    begin_restore(tmp_path)
    with pytest.raises(RestoreUnfinished, match="make reset"):
        copied_at(tmp_path)
    end_copying(tmp_path)
    assert copied_at(tmp_path) is not None
    end_restore(tmp_path)
    assert copied_at(tmp_path) is None
