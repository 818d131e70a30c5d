"""Concurrent requests to a running service, one connection per client."""

from __future__ import annotations

import http.client
import itertools
import json
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.figures import percentile

from service_kit.auth import Principal
from service_kit.tokens import Tokens


@dataclass
class Timed:
    """`seconds` of every request; `bodies` are the responses in request order; `late` counts missing legs."""

    seconds: list[float] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    wall: float = 0.0

    @property
    def late(self) -> int:
        return sum(leg["error"] is not None for body in self.bodies for leg in body["legs"])

    def milliseconds(self, share: float) -> float:
        return 1000 * percentile(self.seconds, share)

    def __str__(self) -> str:
        return f"{self.milliseconds(0.5):.1f} / {self.milliseconds(0.95):.1f}"


class SearchClient:
    """A search client; `caller` is the user, `tokens` are the gateway's."""

    def __init__(self, port: int, tokens: Tokens, caller: Principal) -> None:
        self.port, self.tokens, self.caller = port, tokens, caller

    def ask_all(self, requests: Sequence[dict[str, Any]], clients: int = 1) -> Timed:
        """Sends each request once. Raises RuntimeError for a response other than 200."""
        done: list[tuple[float, dict[str, Any]]] = [(0.0, {})] * len(requests)
        bodies = [json.dumps(request).encode() for request in requests]
        waiting = itertools.count()
        failures: list[Exception] = []

        def work() -> None:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
            try:
                while (number := next(waiting)) < len(bodies) and not failures:
                    done[number] = self._ask(connection, bodies[number])
            except (OSError, RuntimeError, http.client.HTTPException) as error:
                failures.append(error)
            finally:
                connection.close()

        threads = [threading.Thread(target=work) for _ in range(clients)]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        wall = time.perf_counter() - began
        return Timed([seconds for seconds, _ in done], [body for _, body in done], wall)

    def _ask(self, connection: http.client.HTTPConnection, body: bytes) -> tuple[float, dict[str, Any]]:
        token = self.tokens.sign(self.caller, "retrieval")  # a new one, as it expires during a measurement
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        began = time.perf_counter()
        connection.request("POST", "/v1/search", body, headers)
        response = connection.getresponse()
        content = response.read()
        seconds = time.perf_counter() - began
        if response.status != 200:
            raise RuntimeError(f"{response.status}: {content[:500].decode()}")
        return seconds, json.loads(content)
