"""Two processes of retrieval at one port, as Compose starts them."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from typing import Any
from uuid import UUID

import httpx2
import pytest
from held_port import held_port
from pydantic import SecretStr

from retrieval.settings import Settings

SEARCHES = re.compile(r'request_seconds_count\{process="(\d)",[^}]*route="/v1/search",status="200"\} (\S+)')
TIMES = {"milliseconds", "timings", "legs"}


def environment(settings: Settings) -> dict[str, str]:
    given = {name: getattr(settings, name) for name in settings.model_fields_set - {"embedding_models"}}
    plain = {name: one.get_secret_value() if isinstance(one, SecretStr) else one for name, one in given.items()}
    return {name.upper(): str(one) for name, one in plain.items()}


class Processes:
    """Asks by a new connection each time, so that the kernel chooses the process."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self.url, self.headers = url, headers

    async def request(self, method: str, path: str, **more: Any) -> httpx2.Response:
        async with httpx2.AsyncClient(base_url=self.url, trust_env=False, timeout=120) as client:
            return await client.request(method, path, headers=self.headers, **more)

    async def served(self) -> Counter[str]:
        """Returns the number of searches by process."""
        found = SEARCHES.findall((await self.request("GET", "/metrics")).text)
        return Counter({process: int(float(count)) for process, count in found})

    async def answers(self, query: str) -> list[dict[str, Any]]:
        """Returns what a search found each time, until both processes have answered it."""
        before, found = await self.served(), list[dict[str, Any]]()
        while len(await self.served() - before) < 2:
            body = {"query": query, "explain": True}  # not from the cache that they share
            response = (await self.request("POST", "/v1/search", json=body)).raise_for_status()
            found.append({name: value for name, value in response.json().items() if name not in TIMES})
        return found


@pytest.fixture
async def processes(make_settings, object_store, auth_headers) -> AsyncIterator[Processes]:  # noqa: ARG001  the bucket
    with held_port(shared=True) as port:
        variables = environment(make_settings(port=port, server_processes=2, log_level="ERROR"))
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "retrieval", "serve", env={**os.environ, **variables}
        )
        try:
            async with asyncio.timeout(240):
                made = Processes(f"http://127.0.0.1:{port}", auth_headers())
                while True:
                    try:
                        if (await made.request("GET", "/readyz")).is_success:
                            break
                    except httpx2.ConnectError:
                        assert process.returncode is None
                    await asyncio.sleep(0.05)  # another process's port has no event
                yield made
        finally:
            process.terminate()
            await process.wait()


@pytest.mark.timeout(300)
async def test_both_processes_answer_alike_and_see_each_change(processes: Processes, ingesting, converted) -> None:
    def documents(answer: dict[str, Any]) -> list[UUID]:
        return [UUID(hit["document_id"]) for hit in answer["hits"]]

    kept = await ingesting.embedded(converted(["The port of the gateway is 8080.", "Another port."]))
    await ingesting.convert(kept)
    await ingesting.drained()
    first = await processes.answers("port")
    assert all(answer == first[0] for answer in first)
    assert set(documents(first[0])) == {kept.data.document_id}

    added = await ingesting.embedded(converted(["The port of the worker is 9100."]))
    await ingesting.convert(added)
    await ingesting.drained()
    second = await processes.answers("port")
    assert all(answer == second[0] for answer in second)
    assert set(documents(second[0])) == {kept.data.document_id, added.data.document_id}

    await ingesting.delete(added)
    await ingesting.drained()
    assert all(set(documents(answer)) == {kept.data.document_id} for answer in await processes.answers("port"))
