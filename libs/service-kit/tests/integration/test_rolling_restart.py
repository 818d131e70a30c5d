"""Two processes of a service behind one name: they are restarted, and one is killed, while they are called."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from ipaddress import ip_address
from pathlib import Path

import httpx2
import pytest
import small_replica
from held_port import held_port

from service_kit.http_service import service_client
from service_kit.replicas import ReplicaTransport
from service_kit.web_address import Address

HOSTS = ("127.0.0.1", "127.0.0.2")
SCRIPT = str(Path(small_replica.__file__))
SHARED = 200


class Pair:
    """The processes by address, and a client that calls them by their name."""

    def __init__(self, port: int) -> None:
        self.port, self.processes = port, dict[str, asyncio.subprocess.Process]()
        self.client = service_client(base_url=f"http://pair:{port}", timeout=60)
        transport = self.client._transport
        assert isinstance(transport, ReplicaTransport)
        transport.resolve = self.resolve
        self.answers, self.failures = Counter[str](), list[str]()

    async def resolve(self, _host: str, _port: int) -> Sequence[Address]:
        return [ip_address(host) for host in HOSTS]

    async def start(self, host: str) -> None:
        self.processes[host] = await asyncio.create_subprocess_exec(sys.executable, SCRIPT, host, str(self.port))
        async with httpx2.AsyncClient(trust_env=False) as client:
            while True:
                try:
                    await client.get(f"http://{host}:{self.port}/")
                except httpx2.ConnectError:
                    await asyncio.sleep(0.05)  # another process's port has no event
                else:
                    return

    async def call(self, method: str) -> None:
        while True:
            try:
                self.answers[(await self.client.request(method, "/")).json()] += 1
            except httpx2.TransportError as error:
                self.failures.append(f"{method}: {error!r}")

    async def more(self, answers: int = 20) -> None:
        until = self.answers.total() + answers
        while self.answers.total() < until:  # noqa: ASYNC110  the callers are tasks of this process
            await asyncio.sleep(0.01)


@pytest.fixture
async def pair() -> AsyncIterator[Pair]:
    """Both processes are up; two callers read and two send a POST that must not be repeated."""
    with held_port() as port:
        made = Pair(port)
        tasks: list[asyncio.Task[None]] = []
        try:
            async with made.client, asyncio.timeout(240):
                await asyncio.gather(*map(made.start, HOSTS))
                tasks += [asyncio.create_task(made.call(method)) for method in ("GET", "POST") * 2]
                yield made
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)
        finally:
            for process in made.processes.values():
                if process.returncode is None:
                    process.kill()
                    await process.wait()


@pytest.mark.timeout(300)
async def test_no_request_fails_while_one_after_the_other_is_restarted(pair: Pair) -> None:
    await pair.more(SHARED)
    one, other = (pair.answers[host] for host in HOSTS)
    assert abs(one - other) <= 0.2 * (one + other) / 2
    for host in HOSTS:
        pair.processes[host].terminate()
        await pair.processes[host].wait()
        await pair.more()
        await pair.start(host)
        await pair.more()
    assert pair.failures == []


@pytest.mark.timeout(300)
async def test_after_a_kill_only_what_must_not_be_repeated_fails(pair: Pair) -> None:
    await pair.more()
    pair.processes[HOSTS[0]].kill()
    await pair.processes[HOSTS[0]].wait()
    await pair.more(60)
    assert all(failure.startswith("POST") for failure in pair.failures)
    assert len(pair.failures) <= 2  # the requests that were in progress there
