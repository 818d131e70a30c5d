"""A service of two processes at one port."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import psutil
import pytest
import small_service
from held_port import held_port

SCRIPT = str(Path(small_service.__file__))


class SmallService:
    """The service's supervisor, and requests to whichever process takes their connection."""

    def __init__(self, port: int, supervisor: asyncio.subprocess.Process) -> None:
        self.url, self.supervisor = f"http://127.0.0.1:{port}", supervisor

    async def get(self, path: str) -> httpx2.Response:
        """Asks by a new connection."""
        async with httpx2.AsyncClient(base_url=self.url, trust_env=False, timeout=60) as client:
            return await client.get(path)

    async def serving(self, enough: Callable[[set[int]], bool]) -> set[int]:
        """Returns the processes that answer, as soon as they are enough."""
        found = set[int]()
        while not enough(found):
            try:
                found.add((await self.get("/")).json())
            except httpx2.TransportError:
                await asyncio.sleep(0.05)  # another process's port has no event
        return found

    async def two(self) -> set[int]:
        return await self.serving(lambda found: len(found) == 2)


def accepted(process: int) -> int:
    """Returns the number of the process's open connections."""
    connections = psutil.Process(process).net_connections("tcp")
    return sum(one.status == psutil.CONN_ESTABLISHED for one in connections)


@asynccontextmanager
async def started(port: int, *descriptors: int) -> AsyncIterator[SmallService]:
    arguments = map(str, (port, 2, *descriptors))
    supervisor = await asyncio.create_subprocess_exec(sys.executable, SCRIPT, *arguments, pass_fds=descriptors)
    try:
        async with asyncio.timeout(240):
            yield SmallService(port, supervisor)
    finally:
        if supervisor.returncode is None:
            supervisor.terminate()
            await supervisor.wait()


@pytest.fixture
async def service() -> AsyncIterator[SmallService]:
    with held_port(shared=True) as port:
        async with started(port) as service:
            yield service


@pytest.mark.timeout(300)
async def test_connections_are_shared_by_two_processes(service: SmallService) -> None:
    assert await service.two() == {one.pid for one in psutil.Process(service.supervisor.pid).children()}


@pytest.mark.timeout(300)
async def test_both_processes_answer_at_a_socket_that_the_launcher_holds() -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        async with started(held.getsockname()[1], held.fileno()) as service:
            assert len(await service.two()) == 2


@pytest.mark.timeout(300)
async def test_a_killed_process_is_replaced_while_the_other_goes_on(service: SmallService) -> None:
    killed, other = await service.two()
    os.kill(killed, signal.SIGKILL)
    now = await service.serving(lambda found: len(found - {killed}) == 2)
    assert other in now


@pytest.mark.timeout(300)
async def test_both_processes_finish_their_requests_when_the_service_is_stopped(service: SmallService) -> None:
    processes = await service.two()
    async with asyncio.TaskGroup() as group:
        asked = {group.create_task(service.get("/until-stopped")) for _ in range(16)}
        while sum(map(accepted, processes)) < len(asked):  # noqa: ASYNC110
            await asyncio.sleep(0.05)  # another process's connections have no event
        service.supervisor.terminate()
    answered = [one.result() for one in asked]
    assert {one.status_code for one in answered} == {200}
    assert {one.json() for one in answered} == processes
    assert await service.supervisor.wait() == 0
    assert not any(map(psutil.pid_exists, processes))


@pytest.mark.timeout(300)
async def test_the_processes_end_with_their_supervisor(service: SmallService) -> None:
    processes = [psutil.Process(one) for one in await service.two()]
    service.supervisor.kill()
    await service.supervisor.wait()
    _, alive = await asyncio.to_thread(psutil.wait_procs, processes, 60)
    assert not alive


@pytest.mark.timeout(300)
async def test_each_process_tells_the_metrics_of_both(service: SmallService) -> None:
    await service.two()
    for _ in range(4):
        told = (await service.get("/metrics")).text
        samples = [line for line in told.splitlines() if line.startswith("process_start_time_seconds{")]
        assert [line.split("}")[0] for line in sorted(samples)] == [
            f'process_start_time_seconds{{process="{number}"' for number in range(2)
        ]
        assert told.count("# TYPE process_start_time_seconds ") == 1


@pytest.mark.timeout(300)
async def test_a_service_whose_port_is_taken_says_that_it_cannot_start() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        supervisor = await asyncio.create_subprocess_exec(sys.executable, SCRIPT, port, "2")
        assert await supervisor.wait() == 3
