"""A conversion that has been taken over: instead of reading its file, it attacks.

The file names the attacks and their targets as JSON; the result's Markdown reports the outcome of each. Any other file
is converted as usual. The worker's own code starts it, behind the same walls.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import socket
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID

from ingestion.conversion import child
from ingestion.conversion.values import Converted, Limits
from service_kit.sandbox.usage import OwnMemory

WORKED = "WORKED"
MOST_FORKS = 3000
convert_file = child.convert_file
libc = ctypes.CDLL(None, use_errno=True)
Targets = dict[str, Any]


def serve(messages: Connection, memory: OwnMemory) -> None:
    child.convert_file = attack  # type: ignore[assignment]
    child.serve(messages, memory)


def attack(source: BinaryIO, file_name: str, document_id: UUID, output: Path, limits: Limits, *rest: Any) -> Converted:
    data = source.read()
    source.seek(0)
    if not data.startswith(b'{"attacks"'):
        return convert_file(source, file_name, document_id, output, limits, *rest)
    targets = json.loads(data)
    found = {name: outcome(ATTACKS[name], targets) for name in targets["attacks"]}
    (output / "document.md").write_text(json.dumps(found))
    (output / "chunks.jsonl").write_text("")
    return Converted(None, None, 0, 0, "hostile")


def outcome(run: Callable[[Targets], object], targets: Targets) -> str:
    try:
        return f"{WORKED}: {run(targets)}"
    except Exception as error:  # noqa: BLE001  whatever stops it is the outcome
        return f"{type(error).__name__}: {error}"[:200]


def _connect(family: int, kind: int, address: Any) -> object:
    with socket.socket(family, kind) as sock:
        sock.settimeout(3)
        sock.connect(address)
        return sock.send(b"x")


def _syscall(number: int, *arguments: object) -> int:
    result = libc.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(result)


def _secrets_in_memory(targets: Targets) -> object:
    """Looks for secrets in the environment, as Python and as the kernel see it."""
    known = [f"{name}={value}" for name, value in os.environ.items()]
    pointer = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
    place = 0
    while pointer[place]:
        known.append(pointer[place].decode(errors="replace"))
        place += 1
    found = [line for line in known if any(secret in line for secret in targets["secrets"])]
    if not found:
        raise LookupError("no secret in the environment")
    return found


def _sockets(targets: Targets) -> object:  # noqa: ARG001
    """Looks for inherited sockets other than the connection to the worker."""
    found = []
    for number in range(1024):
        try:
            is_socket = (os.fstat(number).st_mode & 0o170000) == 0o140000
        except OSError:
            continue
        if is_socket:
            found.append(number)
    if len(found) <= 1:
        raise LookupError("no socket but its own")
    return found


def _fork_bomb(targets: Targets) -> object:  # noqa: ARG001
    children = []
    try:
        for _ in range(MOST_FORKS):
            pid = os.fork()
            if pid == 0:
                signal.pause()
            children.append(pid)
    except OSError:
        if len(children) < 600:
            raise
    return len(children)


def _thread_bomb(targets: Targets) -> object:  # noqa: ARG001
    stop, threads = threading.Event(), []
    try:
        for _ in range(MOST_FORKS):
            threads.append(threading.Thread(target=stop.wait, daemon=True))
            threads[-1].start()
    except RuntimeError:
        if len(threads) < 600:
            raise
    finally:
        stop.set()
    return len(threads)


def _fill_the_disk(targets: Targets) -> object:  # noqa: ARG001
    for number in range(100_000):
        Path(f"junk-{number}").write_bytes(bytes(16 << 20))
    return "written"


def _reserve_the_disk(targets: Targets) -> object:  # noqa: ARG001
    """Allocates disk space at once that would take minutes to write."""
    with open("reserved", "wb") as file:
        return os.posix_fallocate(file.fileno(), 0, 1 << 20)


def _raise_limits(targets: Targets) -> object:  # noqa: ARG001
    return resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, resource.RLIM_INFINITY))


def _written(path: str) -> object:
    return Path(path).write_text("x")


ATTACKS: dict[str, Callable[[Targets], object]] = {
    "environment": _secrets_in_memory,
    "inherited sockets": _sockets,
    "tcp": lambda to: _connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", to["tcp"])),
    "udp": lambda to: _connect(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", to["udp"])),
    "unix socket": lambda to: _connect(socket.AF_UNIX, socket.SOCK_STREAM, to["unix"]),
    "abstract socket": lambda to: _connect(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + to["abstract"]),
    "netlink": lambda _: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "raw socket": lambda _: socket.socket(socket.AF_INET, socket.SOCK_RAW, 255),
    "worker's environment": lambda to: Path(f"/proc/{to['worker']}/environ").read_bytes(),
    "parent's environment": lambda _: Path(f"/proc/{max(os.getppid(), 1)}/environ").read_bytes(),
    "worker's memory": lambda to: os.open(f"/proc/{to['worker']}/mem", os.O_RDWR),
    "secrets file": lambda to: Path(to["secrets_file"]).read_text(),
    "another document": lambda to: Path(to["other_document"]).read_text(),
    "folder of all documents": lambda to: os.listdir(to["folder"]),
    "file of the system": lambda _: Path("/etc/shadow").read_text(),
    "write beside": lambda to: _written(to["folder"] + "/planted"),
    "write into Python": lambda _: _written(json.__file__ + ".planted"),
    "symbolic link": lambda to: os.symlink(to["secrets_file"], "output/link.md"),
    "hard link": lambda to: os.link(to["secrets_file"], "output/hard.md"),
    "device": lambda _: os.mknod("output/device", 0o020600, os.makedev(1, 1)),
    "ptrace": lambda to: _syscall(101, 16, to["worker"], None, None),
    "reading another process": lambda to: _syscall(310, to["worker"], None, 0, None, 0, 0),
    "signal": lambda to: os.kill(to["worker"], 0),
    "becoming root": lambda _: os.setuid(0),
    "becoming root by groups": lambda _: os.setgroups([0]),
    "a program": lambda _: os.execv("/bin/true", ["true"]),
    "new namespace": lambda _: _syscall(272, 0x10000000),
    "mount": lambda _: _syscall(165, b"none", b"output", b"tmpfs", 0, None),
    "change of root": lambda _: os.chroot("."),
    "fork bomb": _fork_bomb,
    "thread bomb": _thread_bomb,
    "fill the disk": _fill_the_disk,
    "reserve the disk": _reserve_the_disk,
    "raise limits": _raise_limits,
    "outlive the worker": lambda _: _syscall(157, 1, 0, 0, 0, 0),
    "inspectable again": lambda _: _syscall(157, 4, 1, 0, 0, 0),
    "io_uring": lambda _: _syscall(425, 1, ctypes.create_string_buffer(256)),
    "bpf": lambda _: _syscall(321, 0, ctypes.create_string_buffer(256), 128),
    "userfaultfd": lambda _: _syscall(323, 1),
    "keyring": lambda _: _syscall(250, 0, -3, 1),
    "perf": lambda _: _syscall(298, ctypes.create_string_buffer(256), 0, -1, -1, 0),
    "memory that nobody counts": lambda _: os.memfd_create("x"),
    "terminal": lambda _: _syscall(16, 0, 0x5412, b"x"),
}
