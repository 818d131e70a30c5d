"""Conversion processes: when they are reused, when they are replaced, and what passes through them."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import psutil
import pytest

from ingestion.conversion import (
    ChunkOptions,
    Converted,
    Converter,
    CorruptFile,
    Limits,
    MemoryLimitExceeded,
    Recycling,
    Setup,
)
from ingestion.conversion.conversion_process import ConversionProcess, NeverStarted, OnProgress
from ingestion.conversion.jobs import Job

Convert = Callable[[ConversionProcess, Job, OnProgress], Converted]
LIMITS = Limits(seconds=60, memory_bytes=3 << 30, pages=100, input_bytes=50 << 20)
PROSE = "The harbour keeper writes down every ship that comes in with salt and timber on board."
MARKDOWN = f"""---
tags: [harbour, Ships]
author: Ann Other
date: 2024-03-05
---
tags: salt

# The harbour

{PROSE} {PROSE}

## Ships

{PROSE}
"""


class Converting:
    """A converter, and the processes that it used."""

    def __init__(self, converter: Converter, folder: Path) -> None:
        self.converter, self.folder = converter, folder
        self.others = set(conversion_processes())
        self.used: list[int] = []

    def convert(
        self, content: str, name: str = "a.md", limits: Limits = LIMITS, workspace_id: UUID | None = None
    ) -> Converted:
        (self.folder / "source").write_text(content)

        return self.converter.convert(
            self.folder / "source",
            name,
            UUID(int=6),
            self.folder,
            limits,
            lambda _: None,
            workspace_id=workspace_id,
        )

    def running(self) -> list[int]:
        return [pid for pid in conversion_processes() if pid not in self.others]


def conversion_processes() -> list[int]:
    """Returns the conversion processes of all converters in this process."""
    servers = [child for child in psutil.Process().children() if "forkserver" in " ".join(child.cmdline())]
    return [
        child.pid
        for server in servers
        for child in server.children()
        if child.is_running() and child.status() != psutil.STATUS_ZOMBIE
    ]


def processes(pids: list[int]) -> list[psutil.Process]:
    """Returns the processes that still exist."""
    found = []
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            found.append(psutil.Process(pid))
    return found


@contextmanager
def converting(folder: Path, recycling: Recycling, chunking: ChunkOptions | None = None) -> Iterator[Converting]:
    setup = Setup(recycling=recycling, chunking=chunking or ChunkOptions())
    with Converter(setup) as converter, pytest.MonkeyPatch.context() as patch:
        it = Converting(converter, folder)
        patch.setattr(ConversionProcess, "convert", recording(ConversionProcess.convert, it.used))
        yield it
    assert it.running() == []


def recording(convert: Convert, used: list[int]) -> Convert:
    """Wraps `convert` to note the process that read the file; one that ended before it started does not count."""

    def recorded(process: ConversionProcess, job: Job, on_progress: OnProgress) -> Converted:
        used.append(process.pid)
        try:
            return convert(process, job, on_progress)
        except NeverStarted:
            used.pop()
            raise

    return recorded


def test_a_process_converts_several_files_before_it_is_replaced(tmp_path: Path) -> None:
    with converting(tmp_path, Recycling(conversions=2)) as it:
        for _ in range(4):
            it.convert(MARKDOWN)
    assert it.used[0] == it.used[1] != it.used[2] == it.used[3]


def test_a_process_converts_files_of_only_one_workspace(tmp_path: Path) -> None:
    """Prevents a file that takes over its process from seeing files of another workspace."""
    mine, yours = UUID(int=1), UUID(int=2)
    with converting(tmp_path, Recycling()) as it:
        for workspace_id in (mine, mine, yours, mine):
            it.convert(MARKDOWN, workspace_id=workspace_id)
    first, again, other, last = it.used
    assert first == again
    assert len({first, other, last}) == 3


def test_conversions_work_while_celery_reconnects_to_its_broker(tmp_path: Path) -> None:
    """Simulates Celery, which briefly sets a default timeout for all new sockets while it reconnects to its broker."""
    before = socket.getdefaulttimeout()
    with converting(tmp_path, Recycling(conversions=1)) as it:
        socket.setdefaulttimeout(0.001)
        try:
            for _ in range(2):
                it.convert(MARKDOWN)
        finally:
            socket.setdefaulttimeout(before)
    assert len(set(it.used)) == 2


def test_a_process_that_uses_too_much_memory_is_replaced(tmp_path: Path) -> None:
    with converting(tmp_path, Recycling(memory_bytes=1)) as it:
        for _ in range(3):
            it.convert(MARKDOWN)
    assert len(set(it.used)) == 3


def test_a_process_is_not_reused_after_a_failure(tmp_path: Path) -> None:
    with converting(tmp_path, Recycling()) as it:
        with pytest.raises(CorruptFile):
            it.convert("%PDF-1.4 broken", "a.pdf")
        it.convert(MARKDOWN)
        with pytest.raises(MemoryLimitExceeded):
            it.convert(MARKDOWN * 2000, limits=replace(LIMITS, memory_bytes=1 << 20))
        it.convert(MARKDOWN)
    broken, good, again, afresh, last = it.used
    assert good == again  # a file that runs out of memory in a used process gets a fresh one
    assert len({broken, good, afresh, last}) == 4


def test_an_idle_process_ends_and_a_killed_one_is_replaced(tmp_path: Path) -> None:
    with converting(tmp_path, Recycling(idle_seconds=0.1)) as it:
        it.convert(MARKDOWN)
        _, left = psutil.wait_procs(processes(it.running()), timeout=120)
        assert left == []
        it.convert(MARKDOWN)
    with converting(tmp_path, Recycling()) as it:
        it.convert(MARKDOWN)
        for pid in it.running():
            os.kill(pid, signal.SIGKILL)
        assert it.convert(MARKDOWN).chunks > 0


def test_document_metadata_is_extracted(tmp_path: Path) -> None:
    with converting(tmp_path, Recycling()) as it:
        found = it.convert(MARKDOWN)
    assert (found.title, found.headings) == ("The harbour", ("The harbour", "Ships"))
    assert found.tags == ("harbour", "Ships", "salt")
    assert (found.language, found.authors) == ("en", ("Ann Other",))
    assert found.written_at == datetime(2024, 3, 5, tzinfo=UTC)
    assert found.modified_at is None


def test_chunks_have_the_configured_length(tmp_path: Path) -> None:
    with converting(tmp_path, Recycling(), ChunkOptions(max_tokens=64, overlap_tokens=16)) as it:
        found = it.convert(f"# One\n\n{PROSE * 20}\n")
    assert found.chunks > 5
    contents = [line for line in (tmp_path / "chunks.jsonl").read_text().splitlines() if '"content"' in line]
    assert all(int(line.split('"token_count":')[1].split(",")[0]) <= 64 for line in contents)
