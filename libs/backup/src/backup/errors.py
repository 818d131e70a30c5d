"""Reasons for a failed backup or restore; each message is the one line that the user sees."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from embedded.errors import EmbeddedError


class ToolFailed(EmbeddedError):
    """A tool of PostgreSQL ended with an error."""

    def __init__(self, tool: str, why: str) -> None:
        super().__init__(f"{tool} failed: {why}")


class NothingToBackUp(EmbeddedError):
    """The data folder holds no installation."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"{folder} contains no Attractor data: there is nothing to back up")


class BackupUnderWay(EmbeddedError):
    """Another process is using the backup folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"another backup or restore works on {folder}: wait until it has ended")


class NoBackup(EmbeddedError):
    """The moment is before all backups, or there are none."""

    def __init__(self, folder: Path, oldest: datetime | None) -> None:
        what = f"no backup in {folder}"
        if oldest:
            what += f" goes back that far: the earliest moment is {oldest.astimezone().isoformat(' ', 'milliseconds')}"
        super().__init__(f"{what}; set BACKUP_FOLDER if your backups are elsewhere")


class MomentToCome(EmbeddedError):
    """The moment is in the future."""

    def __init__(self, moment: datetime) -> None:
        super().__init__(f"{moment} is still to come: name a moment that has been, with its zone if it is not yours")


class BackupIsNewer(EmbeddedError):
    """The backup was made by a newer version of Attractor, or by another version of PostgreSQL."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"backup {name} is of a newer version ({why}): restore it with that version")


class TargetHasData(EmbeddedError):
    """The data folder is in use."""

    def __init__(self, folder: Path, what: str) -> None:
        super().__init__(
            f"{folder} has data ({what}), which a restore does not overwrite: move the folder away, "
            "set ATTRACTOR_DATA to another one, or delete all data with: make reset"
        )


class DamagedBackup(EmbeddedError):
    """A file of the backup is missing or damaged."""

    def __init__(self, file: Path | str, why: str) -> None:
        super().__init__(f"the backup is damaged: {file}: {why}; nothing was restored")


class LogBreaksOff(EmbeddedError):
    """The write-ahead log cannot be replayed to its end."""

    def __init__(self, segment: Path, until: datetime | None) -> None:
        told = f"; the moments until {until} can be restored" if until else ""
        super().__init__(f"the backup is damaged: {segment}: the log cannot be read on from here{told}")


class RestoreUnfinished(EmbeddedError):
    """A restore was interrupted, and the data is incomplete."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"a restore into {folder} did not end: delete it with make reset, then restore again")
