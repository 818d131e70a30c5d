"""The worker's side of a conversion process: nothing that it sends is trusted."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from uuid import UUID

import pytest

from ingestion.conversion import ConversionError, Limits
from ingestion.conversion.conversion_process import ConversionProcess
from ingestion.conversion.errors import OutputTooLarge, TimeLimitExceeded, WorkerDied
from ingestion.conversion.jobs import Job, Setup
from service_kit.sandbox import ResourceUsage
from service_kit.sandbox.messages import Messages

LIMITS = Limits(seconds=0.5, memory_bytes=10_000, pages=1, input_bytes=100)
CONVERTED = {"kind": "converted", "pages": 1, "title": None, "chunks": 1, "characters": 1, "engine": "x"}


class Hostile:
    """A stand-in for a process that has already sent the messages `said`."""

    pid = 0

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self.messages, self.connection = Messages(ours), Connection(theirs.detach())
        self.send, self.send_file, self.receive = self.messages.send, self.messages.send_file, self.messages.receive
        self.is_idle = True

    def start(self) -> Hostile:
        return self

    def usage(self) -> ResourceUsage:
        return ResourceUsage(0, 0)

    def say(self, *messages: object) -> None:
        for message in messages:
            self.connection.send_bytes(message if isinstance(message, bytes) else json.dumps(message).encode())

    def end(self) -> None:
        self.messages.close()
        self.connection.close()


@pytest.fixture
def hostile() -> Iterator[Hostile]:
    hostile = Hostile()
    yield hostile
    hostile.end()


def convert(hostile: Hostile, folder: Path) -> None:
    (folder / "source").write_text("x")
    job = Job(folder / "source", "a.md", UUID(int=1), folder, LIMITS)
    ConversionProcess(hostile, Setup()).convert(job, lambda _: None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "said",
    [
        b"no JSON",
        b"[" * 100_000,
        ["a list"],
        {"kind": "progress", "page": 1},
        {"kind": "output", "name": "../../secrets.json", "bytes": 1},
        {"kind": "output", "name": "/etc/passwd", "bytes": 1},
        {"kind": "output", "name": "document.md", "bytes": -1},
        CONVERTED,  # without its outputs
        {**CONVERTED, "pages": "many"},
    ],
)
def test_a_malformed_message_ends_the_conversion_with_a_readable_error(
    hostile: Hostile, tmp_path: Path, said: object
) -> None:
    hostile.say({"kind": "started"}, said)
    with pytest.raises(ConversionError, match="invalid answer"):
        convert(hostile, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_a_result_above_the_size_limit_is_not_written(hostile: Hostile, tmp_path: Path) -> None:
    hostile.say({"kind": "output", "name": "document.md", "bytes": 10_001})
    with pytest.raises(OutputTooLarge):
        convert(hostile, tmp_path)


def test_bytes_beyond_the_announced_length_are_not_written(hostile: Hostile, tmp_path: Path) -> None:
    hostile.say({"kind": "output", "name": "document.md", "bytes": 3}, b"four")
    with pytest.raises(ConversionError, match="more than it had announced"):
        convert(hostile, tmp_path)
    assert (tmp_path / "document.md").read_bytes() == b""


def test_a_symbolic_link_at_the_target_is_not_followed(hostile: Hostile, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("as it was")
    (tmp_path / "document.md").symlink_to(tmp_path / "victim")
    hostile.say({"kind": "output", "name": "document.md", "bytes": 3}, b"new")
    with pytest.raises(OSError, match=r"document\.md"):
        convert(hostile, tmp_path)
    assert (tmp_path / "victim").read_text() == "as it was"


def test_an_incomplete_message_is_awaited_only_up_to_the_timeout(hostile: Hostile, tmp_path: Path) -> None:
    with socket.fromfd(hostile.connection.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as raw:
        raw.sendall(b"\x00\x00\x01\x00half")
    with pytest.raises(TimeLimitExceeded):
        convert(hostile, tmp_path)


def test_an_endless_message_is_not_read(hostile: Hostile, tmp_path: Path) -> None:
    hostile.say({"kind": "started"})
    with socket.fromfd(hostile.connection.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as raw:
        raw.sendall(b"\x7f\xff\xff\xff")
    with pytest.raises(WorkerDied):
        convert(hostile, tmp_path)
