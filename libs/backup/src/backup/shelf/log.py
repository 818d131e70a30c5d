"""The write-ahead log (WAL): received continuously from a running stack, and replayed by a restored cluster."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psycopg

from backup.errors import DamagedBackup
from backup.tools import SLOT, Tools, connection

RECEIVER = "log-receiver"
STATE = "backup-log.json"  # says where the log of an installation is kept
SEGMENT_BYTES = 16 * 1024 * 1024
_NAME = re.compile(r"^([0-9A-F]{8})([0-9A-F]{8})([0-9A-F]{8})(\.partial)?$")
_PER_FILE = 0x1_0000_0000 // SEGMENT_BYTES


def log_folder(data: Path) -> Path | None:
    """Returns the folder of this installation's log; None before the first backup."""
    try:
        return Path(json.loads((data / STATE).read_text(encoding="utf-8"))["folder"])
    except FileNotFoundError:
        return None


def keep_log_in(data: Path, folder: Path) -> None:
    """Records the folder in which this installation's log is kept from now on."""
    part = data / f"{STATE}.part"
    part.write_text(json.dumps({"folder": str(folder)}), encoding="utf-8")
    part.replace(data / STATE)


def kept_log(connection: psycopg.Connection, data: Path, shelf: Path) -> Path | None:
    """Returns the folder on the shelf to which the server's log continues; None if a new log must start."""
    log = log_folder(data)
    slot = connection.execute("SELECT wal_status FROM pg_replication_slots WHERE slot_name = %s", (SLOT,)).fetchone()
    if slot is None or slot[0] == "lost" or log is None or log.parent.parent != shelf or not log.exists():
        return None
    return log


def receiving(tools: Tools, database_url: str, folder: Path) -> list[str]:
    """Returns the command that receives the log as it is written, and reconnects after an outage of the server.

    The server keeps what has not been received yet, up to `max_slot_wal_keep_size`.
    """
    options = ["--directory", str(folder), "--slot", SLOT, "--synchronous"]
    return [tools.path("pg_receivewal"), *options, *connection(database_url)]


@dataclass(frozen=True, order=True)
class Segment:
    """A WAL segment. `number` counts within a timeline; `whole` is False while it is still being received."""

    timeline: int
    number: int
    whole: bool
    file: Path

    @property
    def name(self) -> str:
        """The segment's file name in a cluster."""
        return f"{self.timeline:08X}{self.number // _PER_FILE:08X}{self.number % _PER_FILE:08X}"

    @classmethod
    def of(cls, file: Path) -> Self | None:
        """Returns the segment in a file; None if the file is something else."""
        if (found := _NAME.match(file.name)) is None:
            return None
        number = int(found[2], 16) * _PER_FILE + int(found[3], 16)
        return cls(int(found[1], 16), number, found[4] is None, file)


def segment_number(position: str) -> int:
    """Returns the number of the segment that holds a log position such as 0/3000028."""
    high, _, low = position.partition("/")
    return ((int(high, 16) << 32) + int(low, 16)) // SEGMENT_BYTES


def segments(folder: Path, timeline: int, first: int) -> list[Segment]:
    """Returns the received segments from the number `first` on, in order.

    Raises DamagedBackup if one is missing in between.
    """
    found = sorted(
        one for one in map(Segment.of, folder.glob("*")) if one and one.timeline == timeline and one.number >= first
    )
    by_number = {one.number: one for one in found}  # of two, the complete one comes later
    for number, one in zip(range(first, first + len(by_number)), by_number.values(), strict=True):
        if one.number != number:
            raise DamagedBackup(folder / Segment(timeline, number, True, folder).name, "it is missing")
        if one.file.stat().st_size != SEGMENT_BYTES:
            raise DamagedBackup(one.file, f"it has {one.file.stat().st_size} bytes instead of {SEGMENT_BYTES}")
    return list(by_number.values())


def lay_down(received: list[Segment], cluster: Path) -> None:
    """Copies segments into a stopped cluster; if it already has one, the one that extends further is kept."""
    for segment in received:
        place = cluster / "pg_wal" / segment.name
        if not place.exists() or _written(segment.file) > _written(place):
            shutil.copyfile(segment.file, place)


def _written(file: Path) -> int:
    """Returns how many bytes of a segment are written; the rest are zeros."""
    return len(file.read_bytes().rstrip(b"\0"))


def last_written(received: list[Segment]) -> Segment | None:
    """Returns the last segment that is not empty."""
    return next((one for one in reversed(received) if _written(one.file)), None)
