"""The resource usage of a process."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

import psutil

MOST_FILES = 20_000  # a folder with more counts as infinitely large
ENDLESS = 1 << 62


class OwnMemory:
    """The memory of this process; create it before the process loses access to /proc."""

    def __init__(self) -> None:
        self._statm = os.open("/proc/self/statm", os.O_RDONLY) if sys.platform == "linux" else None

    def resident_bytes(self) -> int:
        if self._statm is None:
            return int(psutil.Process().memory_info().rss)
        return int(os.pread(self._statm, 200, 0).split()[1]) * os.sysconf("SC_PAGE_SIZE")


def resident_bytes(pid: int) -> int:
    """Returns the memory of the process and of its children."""
    total = 0
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        for each in [process, *process.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                total += int(each.memory_info().rss)
    return total


def folder_bytes(folder: Path) -> int:
    """Returns the disk space that the files below the folder take."""
    total = files = 0
    for path, _, names in os.walk(folder):
        files += len(names) + 1
        if files > MOST_FILES:
            return ENDLESS
        for name in names:
            with suppress(OSError):
                total += os.lstat(Path(path, name)).st_blocks * 512
    return total
