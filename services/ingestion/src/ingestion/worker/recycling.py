"""A worker that has done much, or holds much memory, makes room for a fresh one: itself, executed anew."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

import psutil

from ingestion.documents.rows import HeldStage

log = logging.getLogger(__name__)
FEWEST_DOCUMENTS = 20  # where a model alone takes more than the limit, it is still worth loading


class Recycling:
    """Counts documents, and says once, by `on_due`, that the process is to be replaced."""

    def __init__(self, max_documents: int, max_memory_bytes: int, on_due: Callable[[], None]) -> None:
        self.max_documents, self.max_memory_bytes, self.on_due = max_documents, max_memory_bytes, on_due
        self.documents = 0
        self.is_due = False
        self._lock = threading.Lock()

    def counting(self, process: Callable[[HeldStage], None]) -> Callable[[HeldStage], None]:
        """The same, counted at its end."""

        def counted(job: HeldStage) -> None:
            try:
                process(job)
            finally:
                self._count()

        return counted

    def _count(self) -> None:
        with self._lock:
            self.documents += 1
            if self.is_due or not self._is_over():
                return
            self.is_due = True
        log.info("recycling", extra={"documents": self.documents, "resident_bytes": own_memory()})
        self.on_due()

    def _is_over(self) -> bool:
        if self.documents >= self.max_documents:
            return True
        return self.documents >= FEWEST_DOCUMENTS and own_memory() >= self.max_memory_bytes


def own_memory() -> int:
    """Resident bytes of this process, without its conversions."""
    return int(psutil.Process(os.getpid()).memory_info().rss)


def execute_anew() -> None:
    """Replaces this process by a new one with the same number and command, so that no supervisor takes notice.

    Nothing may be open any more that must be closed in order; files and sockets close by themselves.
    """
    for child in psutil.Process(os.getpid()).children():
        # The helpers of multiprocessing, which end with this process: the new one would not know to reap them.
        with suppress(psutil.NoSuchProcess):
            child.kill()
            child.wait()
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
