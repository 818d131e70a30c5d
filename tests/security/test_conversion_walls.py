"""A hostile file that takes over the process which reads it gets nothing.

That process once had the worker's passwords, network, files and user. A worker is run as root, as an ordinary user, and
with a separate converter as in Compose; each attack is stopped by at least one of the named walls. On a machine with
none of them it is skipped, with their names.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ORDINARY_UID = 12345
# Makes a Python below a folder of root's readable for other users, in a mount namespace of the test.
SHOW_PYTHON = """
hidden=$1; python=$2; place=$3; shift 3
mount --bind "$python" "$place" && mount -t tmpfs -o mode=755 none "$hidden" && mkdir -p "$python" \
  && mount --move "$place" "$python" && exec "$@"
"""
# The walls that stop an attack; any one is enough. None: it must fail on every machine.
STOPPED_BY: dict[str, tuple[str, ...]] = {
    "environment": (),
    "inherited sockets": (),
    "tcp": ("network", "system-calls"),
    "udp": ("network", "system-calls"),
    "unix socket": ("system-calls",),
    "abstract socket": ("network", "system-calls"),
    "netlink": ("system-calls",),
    "raw socket": ("system-calls", "privileges"),
    "worker's environment": ("files", "user", "privileges"),
    "parent's environment": ("files", "user", "privileges"),
    "worker's memory": ("files", "user", "privileges"),
    "secrets file": ("files",),
    "another document": ("files",),
    "folder of all documents": ("files",),
    "file of the system": ("files",),
    "write beside": ("files",),
    "write into Python": ("files",),
    "symbolic link": ("files", "system-calls"),
    "hard link": ("files", "system-calls"),
    "device": ("files", "system-calls"),
    "ptrace": ("system-calls", "files"),
    "reading another process": ("system-calls",),
    "signal": ("processes", "system-calls"),
    "becoming root": ("system-calls",),
    "becoming root by groups": ("system-calls", "privileges"),
    "a program": ("system-calls",),
    "new namespace": ("system-calls",),
    "mount": ("privileges",),
    "change of root": ("privileges",),
    "fork bomb": ("system-calls", "process-count"),
    "thread bomb": ("process-count",),
    "fill the disk": (),
    "reserve the disk": ("system-calls",),
    "raise limits": ("privileges",),
    "outlive the worker": ("system-calls",),
    "inspectable again": ("system-calls",),
    "io_uring": ("system-calls",),
    "bpf": ("system-calls",),
    "userfaultfd": ("system-calls",),
    "keyring": ("system-calls",),
    "perf": ("system-calls",),
    "memory that nobody counts": ("system-calls",),
    "terminal": (),
}


@dataclass(frozen=True)
class Attacked:
    walls: dict[str, bool]
    found: dict[str, str]
    after: list[str]
    left: list[str]
    prose: str


@pytest.fixture(scope="module", params=["ordinary", "root", "converter"])
def attacked(request: pytest.FixtureRequest) -> Iterator[Attacked]:
    if sys.platform != "linux":
        pytest.skip("the walls are Linux's")
    root, more = request.param == "root", [request.param] if request.param == "converter" else []
    if root and os.geteuid() != 0:
        pytest.skip("only root can run a worker as root")
    folder = Path(tempfile.mkdtemp(prefix="attacked-"))
    try:
        yield Attacked(**_run(folder, root, more))
    finally:
        shutil.rmtree(folder)


def _run(folder: Path, root: bool, more: list[str]) -> dict[str, Any]:
    program = [sys.executable, str(HERE / "attacked_worker.py"), str(folder), *more]
    command = program
    if os.geteuid() == 0:
        if not root:
            os.chown(folder, ORDINARY_UID, ORDINARY_UID)
            program = ["setpriv", f"--reuid={ORDINARY_UID}", f"--regid={ORDINARY_UID}", "--clear-groups", *program]
        command = _seen_by_others(program, folder)
    environment = {**os.environ, "PYTHONPATH": str(HERE), "TMPDIR": "/tmp"}
    environment |= {"S3_SECRET_KEY": "s3-secret-of-the-worker", "DATABASE_URL": "database-password-of-the-worker"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=250)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _seen_by_others(command: list[str], folder: Path) -> list[str]:
    python = Path(sys.base_prefix)
    hidden = next((one for one in reversed(python.parents) if not one.stat().st_mode & 0o001), None)
    if hidden is None:
        return command
    place = tempfile.mkdtemp(prefix="python-", dir=folder)
    mounted = ["unshare", "--mount", "--propagation", "private", "sh", "-c", SHOW_PYTHON, "sh"]
    if shutil.which("unshare") is None:
        pytest.skip("other users cannot run this Python, and unshare(1) is missing")
    return [*mounted, str(hidden), str(python), place, *command]


@pytest.mark.parametrize("attack", STOPPED_BY)
def test_every_attack_from_inside_a_conversion_fails(attacked: Attacked, attack: str) -> None:
    walls = STOPPED_BY[attack]
    if walls and not any(attacked.walls[wall] for wall in walls):
        pytest.skip(f"this machine has none of the walls {', '.join(walls)}")
    assert not attacked.found[attack].startswith("WORKED"), attacked.found[attack]


def test_every_attack_is_listed(attacked: Attacked) -> None:
    assert attacked.found.keys() == STOPPED_BY.keys()


def test_the_next_document_is_converted_and_no_trace_is_left(attacked: Attacked) -> None:
    assert [text.split() for text in attacked.after] == [attacked.prose.split()] * len(attacked.after)
    outputs = {f"output/{name}" for name in ("chunks.jsonl", "document.md")}
    assert set(attacked.left) == {"original", "secrets.json", "work/other-document"} | outputs


def test_filling_the_disk_is_reported(attacked: Attacked) -> None:
    assert attacked.found["fill the disk"] == "output-too-large"
