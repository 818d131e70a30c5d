"""Runs extraction outside the event loop. spaCy holds the interpreter for seconds, so it has its own process."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context
from typing import Self

from knowledge_graph.extraction import english_reader, worker
from knowledge_graph.extraction.document import ALL, Methods
from knowledge_graph.extraction.records import Extraction, SourceDocument

TASKS_PER_PROCESS = 200
"""The process is replaced after this many, which frees the memory that its allocator retains."""


class Extractor:
    """An async context manager. The process starts with the first document."""

    def __init__(self, methods: Methods = ALL) -> None:
        self.pool: ProcessPoolExecutor | None = None
        # With several documents at once, a pool that replaces its process can mistake the one that ended for an idle
        # one, and wait forever.
        self.turn = asyncio.Lock()
        self.methods = methods
        self.method = self._method(reads_english=english_reader.is_installed())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.pool is not None:
            await asyncio.to_thread(self.pool.shutdown, cancel_futures=True)

    async def extract(self, documents: Sequence[SourceDocument]) -> list[Extraction]:
        """Extracts documents, for one caller at a time.

        Raises BrokenProcessPool if the process dies; the next call starts one.
        """
        async with self.turn:
            return await self._extract(documents)

    async def _extract(self, documents: Sequence[SourceDocument]) -> list[Extraction]:
        if self.pool is None:
            self.pool = ProcessPoolExecutor(
                1, get_context("spawn"), initializer=worker.start, max_tasks_per_child=TASKS_PER_PROCESS
            )
        try:
            extractions, reads_english = await asyncio.get_running_loop().run_in_executor(
                self.pool, worker.run, documents, self.methods
            )
        except BrokenProcessPool:
            with suppress(OSError):
                self.pool.shutdown(wait=False)
            self.pool = None
            raise
        self.method = self._method(reads_english=reads_english)
        return extractions

    def _method(self, *, reads_english: bool) -> str:
        """Returns how English text is read; each extraction names its own method."""
        if not reads_english:
            return "patterns"
        return "ner+patterns+dependency" if self.methods.dependency else "ner+patterns"
