"""The log of the database (WAL): received without a pause beside a running stack, and given to a restored cluster."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from embedded.backup.errors import DamagedBackup
from embedded.backup.tools import SLOT, connection, tool

RECEIVER = "log-receiver"
STATE = "backup-log.json"  # in the data folder: it says where the log of these data is kept
SEGMENT_BYTES = 16 * 1024 * 1024
_NAME = re.compile(r"^([0-9A-F]{8})([0-9A-F]{8})([0-9A-F]{8})(\.partial)?$")
_PER_FILE = 0x1_0000_0000 // SEGMENT_BYTES


def log_folder(data: Path) -> Path | None:
    """Returns where the log of these data is kept; None before their first backup."""
    try:
        return Path(json.loads((data / STATE).read_text(encoding="utf-8"))["folder"])
    except FileNotFoundError:
        return None


def keep_log_in(data: Path, folder: Path) -> None:
    """Says where the log of these data is kept from now on."""
    part = data / f"{STATE}.part"
    part.write_text(json.dumps({"folder": str(folder)}), encoding="utf-8")
    part.replace(data / STATE)


def receiving(port: int, folder: Path) -> list[str]:
    """Returns what receives the log as it is written. It connects again by itself when the server was away.

    What it has not received the server keeps, up to `max_slot_wal_keep_size`.
    """
    return [*(tool("pg_receivewal"), "--directory", str(folder), "--slot", SLOT, "--synchronous"), *connection(port)]


@dataclass(frozen=True, order=True)
class Segment:
    """A piece of the log. `number` counts them within a timeline; `whole` unless it is still being received."""

    timeline: int
    number: int
    whole: bool
    file: Path

    @property
    def name(self) -> str:
        """Its name in a cluster."""
        return f"{self.timeline:08X}{self.number // _PER_FILE:08X}{self.number % _PER_FILE:08X}"

    @classmethod
    def of(cls, file: Path) -> Self | None:
        """Returns the segment in a file; None if it holds something else."""
        if (found := _NAME.match(file.name)) is None:
            return None
        number = int(found[2], 16) * _PER_FILE + int(found[3], 16)
        return cls(int(found[1], 16), number, found[4] is None, file)


def segment_number(position: str) -> int:
    """Returns which segment holds a position of the log, such as 0/3000028."""
    high, _, low = position.partition("/")
    return ((int(high, 16) << 32) + int(low, 16)) // SEGMENT_BYTES


def segments(folder: Path, timeline: int, first: int) -> list[Segment]:
    """Returns the received segments from the number `first` on, in order.

    Raises DamagedBackup where one is missing between others.
    """
    found = sorted(
        one for one in map(Segment.of, folder.glob("*")) if one and one.timeline == timeline and one.number >= first
    )
    by_number = {one.number: one for one in found}  # a whole one is the later of two
    for number, one in zip(range(first, first + len(by_number)), by_number.values(), strict=True):
        if one.number != number:
            raise DamagedBackup(folder / Segment(timeline, number, True, folder).name, "it is missing")
        if one.file.stat().st_size != SEGMENT_BYTES:
            raise DamagedBackup(one.file, f"it has {one.file.stat().st_size} bytes instead of {SEGMENT_BYTES}")
    return list(by_number.values())


def lay_down(received: list[Segment], cluster: Path) -> None:
    """Copies segments into a cluster that is not running; where it has one already, the one that goes further stays."""
    for segment in received:
        place = cluster / "pg_wal" / segment.name
        if not place.exists() or _written(segment.file) > _written(place):
            shutil.copyfile(segment.file, place)


def _written(file: Path) -> int:
    """Returns up to which byte a segment is written: the rest are zeros."""
    return len(file.read_bytes().rstrip(b"\0"))


def last_written(received: list[Segment]) -> Segment | None:
    """Returns the last segment that has anything in it."""
    return next((one for one in reversed(received) if _written(one.file)), None)
