"""The part of the log that a base backup includes, according to PostgreSQL's manifest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from backup.errors import DamagedBackup
from backup.shelf.log import Segment, segment_number

NAME = "backup_manifest"


def timeline_and_end(database: Path) -> tuple[int, int]:
    """Returns a base backup's timeline and the number of the segment in which it ends. Raises DamagedBackup."""
    last = _ranges(database)[-1]
    return int(last["Timeline"]), segment_number(last["End-LSN"])


def start_segment_name(database: Path) -> str:
    """Returns the name of the segment in which a base backup starts. Raises DamagedBackup."""
    first = _ranges(database)[0]
    return Segment(int(first["Timeline"]), segment_number(first["Start-LSN"]), True, database).name


def _ranges(database: Path) -> list[dict[str, Any]]:
    try:
        ranges = json.loads((database / NAME).read_text(encoding="utf-8"))["WAL-Ranges"]
    except (OSError, ValueError, KeyError) as error:
        raise DamagedBackup(database / NAME, "it cannot be read") from error
    return sorted(ranges, key=lambda one: int(one["Timeline"]))
