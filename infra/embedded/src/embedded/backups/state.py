"""Records in the data folder that a restore is in progress, or that its stores are still to be reconciled."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

from embedded.errors import RestoreUnfinished

STATE = "restore.json"


def begin_restore(data: Path) -> None:
    """Prevents the data folder from being used until its data is complete."""
    _write(data, {"copied_at": None})


def end_copying(data: Path) -> None:
    """Marks the data as complete; the next start reconciles the stores."""
    _write(data, {"copied_at": datetime.now(UTC).isoformat()})


def copied_at(data: Path) -> datetime | None:
    """Returns the time of a restore whose stores are still to be reconciled; None if there is nothing to do.

    Raises RestoreUnfinished.
    """
    try:
        state = json.loads((data / STATE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    if state["copied_at"] is None:
        raise RestoreUnfinished(data)
    return datetime.fromisoformat(state["copied_at"])


def end_restore(data: Path) -> None:
    """Records that the stores have been reconciled."""
    (data / STATE).unlink()


def _write(data: Path, state: dict[str, str | None]) -> None:
    part = data / f"{STATE}.part"
    with part.open("w", encoding="utf-8") as file:
        json.dump(state, file)
        file.flush()
        os.fsync(file.fileno())
    part.replace(data / STATE)
