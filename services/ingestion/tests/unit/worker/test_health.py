"""The health of a worker, which its container checks by a cheap shell script."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
from prometheus_client import CollectorRegistry, Counter

from ingestion.worker.health import SILENT_SECONDS, SignsOfLife, serve_inside

HEALTHY = Path(__file__).parents[5] / "infra" / "docker" / "healthy"


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def signs(clock: Clock) -> SignsOfLife:
    return SignsOfLife(clock)


@pytest.fixture
def port(signs: SignsOfLife) -> Iterator[int]:
    registry = CollectorRegistry()
    Counter("attractor_tried_total", "Tries", registry=registry)
    with socket.create_server(("127.0.0.1", 0)) as held:
        free: int = held.getsockname()[1]
    with ExitStack() as stack:
        serve_inside(registry, signs, "127.0.0.1", free, stack)
        yield free


def is_healthy(port: int) -> bool:
    return subprocess.run([HEALTHY, str(port)]).returncode == 0


def test_a_worker_is_ready_while_it_is_connected_to_the_broker(port: int, signs: SignsOfLife, clock: Clock) -> None:
    answers = []
    for seconds in (None, 0, SILENT_SECONDS - 1, SILENT_SECONDS):
        if seconds == 0:
            signs.give()
        clock.now = 1000.0 + (seconds or 0)
        answer = httpx2.get(f"http://127.0.0.1:{port}/readyz")
        answers.append((answer.status_code, answer.json()["status"], is_healthy(port)))
    assert answers == [(503, "starting", False), (200, "ready", True), (200, "ready", True), (503, "silent", False)]


def test_metrics_are_served_beside_it_and_nothing_else(port: int) -> None:
    metrics = httpx2.get(f"http://127.0.0.1:{port}/metrics")
    assert (metrics.status_code, "attractor_tried_total" in metrics.text) == (200, True)
    assert httpx2.get(f"http://127.0.0.1:{port}/").status_code == 404


def test_a_socket_held_by_the_parent_is_served(signs: SignsOfLife) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        for _ in range(2):  # two processes, one after the other
            with ExitStack() as stack:
                serve_inside(CollectorRegistry(), signs, "127.0.0.1", port, stack, os.dup(held.fileno()))
                assert httpx2.get(f"http://127.0.0.1:{port}/metrics").status_code == 200


def test_a_closed_port_is_unhealthy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        free = held.getsockname()[1]
    assert not is_healthy(free)


def test_a_port_that_accepts_without_answering_is_unhealthy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert not is_healthy(silent.getsockname()[1])
