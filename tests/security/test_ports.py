"""No port behind the gateway gives access without a key: neither those of the stores nor of the services."""

from __future__ import annotations

import errno
import json
import os
import socket
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import httpx2
import psutil
import pytest
from api_calls import REPOSITORY
from stack import EmbeddedStack

from embedded.accounts import reachable
from embedded.topology import PROCESSES

STRANGER = 12345
PROBE = (REPOSITORY / "tests" / "port_probe.py").read_text(encoding="utf-8")


def listening(stack: EmbeddedStack) -> dict[tuple[str, int], str]:
    """Returns the process name by each address on which the stack listens, except the gateway's public one."""
    found = {}
    for name, _, one in stack.connections("inet"):
        if one.status == psutil.CONN_LISTEN and not stack.url.endswith(f":{one.laddr.port}"):
            found[(one.laddr.ip, one.laddr.port)] = name
    return found


def as_a_stranger(ports: list[tuple[str, int]]) -> dict[str, list[str]]:
    """Runs the probe, as another user if run by root; returns the accepted requests by address."""
    python = Path(sys.executable).resolve()
    user = STRANGER if os.geteuid() == 0 and reachable(python) else None
    done = subprocess.run(
        [str(python), "-I", "-S", "-", json.dumps(ports)],
        input=PROBE,
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
        user=user,
        group=user,
        extra_groups=None if user is None else [],
    )
    return json.loads(done.stdout)


def test_only_the_port_of_the_gateway_accepts_requests_from_strangers(stack: EmbeddedStack) -> None:
    """Regression: the object store's internal ports gave all files of all workspaces to any local account."""
    ports = listening(stack)
    assert {"postgres", "valkey", "object-store", "ingestion", "retrieval"} <= set(ports.values())
    assert len([port for port, name in ports.items() if name == "object-store"]) >= 8
    obeyed = as_a_stranger(sorted(ports))
    assert obeyed == {}, {ports[(place.rpartition(":")[0], int(place.rpartition(":")[2]))] for place in obeyed}


def test_every_port_listens_only_on_this_machine(stack: EmbeddedStack) -> None:
    assert {address for address, _ in listening(stack)} <= {"127.0.0.1", "::1"}


def test_every_process_tells_its_metrics_at_the_address_that_prometheus_is_given(stack: EmbeddedStack) -> None:
    targets = json.loads((stack.folder.path / "metrics.json").read_text(encoding="utf-8"))
    assert {one["labels"]["service"] for one in targets} == {process.name for process in PROCESSES}
    for one in targets:
        [address] = one["targets"]
        assert address.startswith("127.0.0.1:")
        told = httpx2.get(f"http://{address}/metrics", trust_env=False, timeout=60).raise_for_status().text
        assert "attractor_build_info{" in told, one
        assert "_created" not in told, one


def test_local_sockets_belong_to_the_user_who_runs_the_stack(stack: EmbeddedStack) -> None:
    """The object store's servers also listen on Unix sockets, to which other users must not connect."""
    open_to_others = set()
    for _, process, one in stack.connections("unix"):
        if one.laddr and not one.laddr.startswith(("@", "\0")):
            with suppress(psutil.NoSuchProcess, FileNotFoundError):  # it ended meanwhile, or closed the socket
                place = Path(one.laddr) if one.laddr.startswith("/") else Path(process.cwd(), one.laddr)
                if place.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                    open_to_others.add(place)
    assert open_to_others == set()


def test_the_keys_of_the_object_store_are_private(stack: EmbeddedStack) -> None:
    folder = stack.folder.path / "object-store" / ".seaweedfs"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert modes == {"security.toml": 0o600, "store.crt": 0o600, "store.key": 0o600}


async def test_a_port_stays_reserved_while_its_service_restarts(
    stack: EmbeddedStack, admin: httpx2.AsyncClient
) -> None:
    """Regression: a local account could bind the port of a stopped service and receive its requests and tokens."""
    [port] = [port for (_, port), name in listening(stack).items() if name == "memory"]
    stack.kill("memory")
    with socket.socket() as stranger, pytest.raises(OSError, match=os.strerror(errno.EADDRINUSE)):
        stranger.bind(("127.0.0.1", port))
    answer = await admin.get("/v1/memories")
    assert answer.status_code == 200, answer.text
