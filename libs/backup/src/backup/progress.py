"""How a backup or a restore reports its progress."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Protocol


class BackupProgress(Protocol):
    """The embedded stack has one for terminals."""

    def step(self, text: str) -> contextlib.AbstractContextManager[None]:
        """Tells that a step begins, and when it is done."""

    def line(self, text: str) -> None:
        """Tells what was done."""

    def warn(self, text: str) -> None:
        """Tells what somebody should look at."""


class LineProgress:
    """Writes lines with the time (UTC) to standard output, for a container's log."""

    @contextlib.contextmanager
    def step(self, text: str) -> Iterator[None]:
        self.line(f"{text} ...")
        yield
        self.line(f"{text}: done")

    def line(self, text: str) -> None:
        sys.stdout.write(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} {text}\n")
        sys.stdout.flush()

    def warn(self, text: str) -> None:
        self.line(f"warning: {text}")
