"""Reasons for a failed backup or restore; each message is the one line that the user sees."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path


class BackupError(Exception):
    """Base class; the message is one line that says what to do."""


class ToolFailed(BackupError):
    """A tool of PostgreSQL ended with an error."""

    def __init__(self, tool: str, why: str) -> None:
        super().__init__(f"{tool} failed: {why}")


class BackupUnderWay(BackupError):
    """Another process is using the backup folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"another backup or restore works on {folder}: wait until it has ended")


class NoBackup(BackupError):
    """The moment is before all backups, or there are none."""

    def __init__(self, folder: Path, oldest: datetime | None) -> None:
        what = f"no backup in {folder}"
        if oldest:
            what += f" goes back that far: the earliest moment is {oldest.astimezone().isoformat(' ', 'milliseconds')}"
        super().__init__(f"{what}; set BACKUP_FOLDER if your backups are elsewhere")


class NoMoment(BackupError):
    """The text is no moment."""

    def __init__(self, text: str) -> None:
        super().__init__(f'{text!r} is no moment: write it like "2026-11-20 14:03" or 2026-11-20T14:03:00Z')


class MomentToCome(BackupError):
    """The moment is in the future."""

    def __init__(self, moment: datetime) -> None:
        super().__init__(f"{moment} is still to come: name a moment that has been, with its zone if it is not yours")


class BackupIsNewer(BackupError):
    """The backup was made by a newer version of Attractor, or by another version of PostgreSQL."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"backup {name} is of a newer version ({why}): restore it with that version")


class TargetHasData(BackupError):
    """There is data where the restore would write."""

    def __init__(self, place: Path | str, what: str, way_out: str) -> None:
        super().__init__(f"{place} has data ({what}), which a restore does not overwrite: {way_out}")


class DamagedBackup(BackupError):
    """A file of the backup is missing or damaged."""

    def __init__(self, file: Path | str, why: str) -> None:
        super().__init__(f"the backup is damaged: {file}: {why}")


class LogBreaksOff(BackupError):
    """The write-ahead log cannot be replayed to its end."""

    def __init__(self, segment: Path, until: datetime | None) -> None:
        until_when = f"; the moments until {until} can be restored" if until else ""
        super().__init__(f"the backup is damaged: {segment}: the log cannot be read on from here{until_when}")
