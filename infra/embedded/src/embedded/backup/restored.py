"""Remembers in the data folder that it is being restored, and that its stores are still to be compared."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

from embedded.backup.errors import RestoreUnfinished

STATE = "restore.json"


def begin_restore(data: Path) -> None:
    """Keeps everything from starting on these data until they are whole."""
    _write(data, {"copied_at": None})


def end_copying(data: Path) -> None:
    """Marks the data as whole; the next start repairs what the stores do not agree on."""
    _write(data, {"copied_at": datetime.now(UTC).isoformat()})


def copied_at(data: Path) -> datetime | None:
    """Returns when the data were restored whose stores are still to be compared; None if there is nothing to do.

    Raises RestoreUnfinished.
    """
    try:
        told = json.loads((data / STATE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    if told["copied_at"] is None:
        raise RestoreUnfinished(data)
    return datetime.fromisoformat(told["copied_at"])


def end_restore(data: Path) -> None:
    """The stores agree."""
    (data / STATE).unlink()


def _write(data: Path, told: dict[str, str | None]) -> None:
    part = data / f"{STATE}.part"
    with part.open("w", encoding="utf-8") as file:
        json.dump(told, file)
        file.flush()
        os.fsync(file.fileno())
    part.replace(data / STATE)
