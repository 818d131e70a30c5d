"""A converter in another process that is reached only by a Unix socket, like the container without networks."""

from __future__ import annotations

import os
import select
import socket
import stat
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import aclosing, closing, suppress
from pathlib import Path
from uuid import UUID

import psutil
import pytest

from ingestion.conversion import Converter, Limits
from ingestion.uploads.archives import ArchiveLimits
from ingestion.uploads.archives.expansion import Expander
from service_kit.sandbox.messages import Messages

DOCUMENT = UUID("00000000-0000-4000-8000-000000000001")
PROSE = "# Harbour\n\nThe keeper writes down every ship that comes in with salt on board.\n"


class ConverterProgram:
    """`python -m ingestion converter`, started and killed by the test."""

    def __init__(self, folder: Path) -> None:
        self.socket, self.work = folder / "socket", folder / "work"
        self.work.mkdir()
        self.process = self._started()

    def restart(self) -> None:
        self.kill()
        self.process = self._started()

    def kill(self) -> None:
        family = psutil.Process(self.process.pid).children(recursive=True) if self.process.poll() is None else []
        for one in family:
            with suppress(psutil.NoSuchProcess):
                one.kill()
        self.process.kill()
        self.process.wait()

    @property
    def fork_servers(self) -> list[psutil.Process]:
        return [
            one
            for one in psutil.Process(self.process.pid).children()
            if one.status() != psutil.STATUS_ZOMBIE and "service_kit.sandbox.forkserver" in one.cmdline()
        ]

    def _started(self) -> subprocess.Popen[bytes]:
        environment = {"PATH": os.environ["PATH"], "CONVERTER_SOCKET": str(self.socket), "WORK_FOLDER": str(self.work)}
        return subprocess.Popen([sys.executable, "-m", "ingestion", "converter"], env=environment)


@pytest.fixture
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConverterProgram]:
    program = ConverterProgram(tmp_path_factory.mktemp("converter"))
    yield program
    program.kill()


class Watched:
    """A process whose end can be awaited although it is not a child of the test."""

    def __init__(self, process: psutil.Process) -> None:
        self._descriptor = os.pidfd_open(process.pid)

    def has_ended(self) -> bool:
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        ended = bool(poll.poll(60_000))
        os.close(self._descriptor)
        return ended


def converted(converter: Converter, limits: Limits, folder: Path, text: str = PROSE) -> str:
    (folder / "source").write_text(text)
    converter.convert(folder / "source", "harbour.md", DOCUMENT, folder, limits, lambda _: None)
    return (folder / "document.md").read_text()


def test_files_are_converted_in_the_other_process_tree(
    program: ConverterProgram, limits: Limits, tmp_path: Path
) -> None:
    with Converter(folder=tmp_path, listener=program.socket) as converter:
        assert "The keeper writes down every ship" in converted(converter, limits, tmp_path)
        assert len(program.fork_servers) == 1
        walls = {wall.name: wall for wall in converter.walls}
        assert walls["environment"].active
        assert not walls["container"].active, "this test and the converter see each other"
        server = Watched(program.fork_servers[0])
    assert server.has_ended()
    assert [path.name for path in program.work.glob("conversions-*/sandbox-*")] == []


def test_a_worker_continues_after_its_converter_was_replaced(
    program: ConverterProgram, limits: Limits, tmp_path: Path
) -> None:
    with Converter(folder=tmp_path, listener=program.socket) as converter:
        converted(converter, limits, tmp_path)
        program.restart()
        assert "The keeper" in converted(converter, limits, tmp_path)
    assert len(list(program.work.iterdir())) == 1, "what the killed one had written is removed"


async def test_archives_are_expanded_there_too(program: ConverterProgram, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("salt")
    with tarfile.open(tmp_path / "notes.tar", "w") as archive:
        archive.add(tmp_path / "note.txt", "note.txt")
    (tmp_path / "spool").mkdir()
    limits = ArchiveLimits(10, 1 << 20, 100, 1 << 20)
    with closing(Expander(limits, tmp_path / "spool", program.socket)) as expander:
        async with aclosing(expander.expanded(tmp_path / "notes.tar", "tar")) as members:
            assert [member.path async for member in members] == ["note.txt"]
        assert len(program.fork_servers) == 1


def test_a_silent_or_malformed_client_blocks_nobody(program: ConverterProgram, limits: Limits, tmp_path: Path) -> None:
    with Converter(folder=tmp_path, listener=program.socket) as converter:
        converted(converter, limits, tmp_path)
        for message in (None, b"no JSON", b"[]", b'{"unknown": 1}'):
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(program.socket))
                if message is not None:
                    Messages(client).send(message)
        assert "Salt" in converted(converter, limits, tmp_path, "# Salt\n\nFor the fish.\n")
    with Converter(folder=tmp_path, listener=program.socket) as converter:
        assert "The keeper" in converted(converter, limits, tmp_path)


def test_only_its_own_user_may_connect_and_it_stops_at_once(program: ConverterProgram, tmp_path: Path) -> None:
    with Converter(folder=tmp_path, listener=program.socket) as converter:
        assert converter.walls
        assert stat.S_IMODE(program.socket.stat().st_mode) == 0o600
        server = Watched(program.fork_servers[0])
        program.process.terminate()
        assert program.process.wait(60) == 0
        assert server.has_ended()
    assert not program.socket.exists()
    assert list(program.work.iterdir()) == []
