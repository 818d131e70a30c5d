"""Everything is killed and its data deleted; a restore brings back rows, objects and answers of a moment.

Two workspaces are as separate afterwards as before.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from api_calls import PATIENCE, client, new_tenant, settled
from isolation import Neighbours, assert_no_route_reveals_the_other, assert_the_first_is_unchanged, neighbours
from stack import PATIENT, EmbeddedStack

from embedded.removal import remove

FINISHED = {"completed", "failed", "cancelled"}
QUESTION = "Where does the otter live?"


def command(stack: EmbeddedStack, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs `python -m embedded` alongside the stack."""
    environment = {**os.environ, "ATTRACTOR_DATA": str(stack.folder.path)}
    return subprocess.run(
        [sys.executable, "-m", "embedded", *arguments], env=environment, capture_output=True, text=True
    )


async def backed_up(stack: EmbeddedStack) -> str:
    done = await asyncio.to_thread(command, stack, "backup")
    assert done.returncode == 0, done.stderr
    return done.stdout


async def uploaded(http: httpx2.AsyncClient, name: str, place: str) -> str:
    """Returns the document's id once all services have it, so that searches from now on find the same."""
    text = f"# {name}\n\nThe {name} lives in the {place}.\n"
    answer = (await http.post("/v1/documents", files=[("files", (f"{name}.md", text.encode()))])).raise_for_status()
    identifier = str(answer.json()["files"][0]["document"]["id"])
    assert (await settled(http, identifier))["status"] == "searchable"
    return identifier


async def answered(http: httpx2.AsyncClient) -> str:
    """Asks the question in a new session; returns the session's id."""
    session = (await http.post("/v1/sessions", json={"title": "Animals"})).raise_for_status().json()
    path = f"/v1/sessions/{session['id']}/messages"
    run = (await http.post(path, json={"content": QUESTION})).raise_for_status().json()
    async with asyncio.timeout(PATIENCE):
        while True:
            if (await read(http, f"/v1/runs/{run['id']}"))["status"] in FINISHED:
                return str(session["id"])
            await asyncio.sleep(0.3)  # the run may have no events yet


async def read(http: httpx2.AsyncClient, path: str) -> dict[str, Any]:
    return dict((await http.get(path)).raise_for_status().json())


async def recorded(http: httpx2.AsyncClient, session: str) -> dict[str, Any]:
    """Returns what a user sees: documents with originals and texts, the session with its answer, search results."""
    documents = (await read(http, "/v1/documents"))["items"]
    files = {
        f"{one['name']} {kind}": (await http.get(f"/v1/documents/{one['id']}/{kind}")).raise_for_status().content
        for one in documents
        for kind in ("original", "markdown")
    }
    found = (await http.post("/v1/search", json={"query": QUESTION})).raise_for_status().json()
    return {
        "documents": {one["name"]: (one["id"], one["content_hash"], one["chunk_count"]) for one in documents},
        "files": files,
        "messages": [
            (one["role"], one["status"], one["content"])
            for one in (await read(http, f"/v1/sessions/{session}/messages"))["items"]
        ],
        "hits": [(hit["document_name"], hit["content"]) for hit in found["hits"]],
    }


@asynccontextmanager
async def again(stack: EmbeddedStack, both: Neighbours) -> AsyncIterator[Neighbours]:
    """Yields the tenants, with their keys, at the address of this stack."""
    async with AsyncExitStack() as clients:
        tenants = []
        for one in (both.first, both.second):
            key = one.http.headers["Authorization"].removeprefix("Bearer ")
            http = await clients.enter_async_context(client(stack.url, key))
            tenants.append(replace(one, http=http))
        yield Neighbours(*tenants, both.ids)


def kill_everything(stack: EmbeddedStack) -> None:
    """Sends kill -9 to the launcher and all its processes."""
    everything = [psutil.Process(stack.launcher.pid), *stack.processes().values()]
    for process in everything:
        with suppress(psutil.NoSuchProcess):  # services end with the launcher
            process.kill()
    stack.launcher.wait()
    psutil.wait_procs(everything, timeout=60)


async def gauges(stack: EmbeddedStack) -> str:
    """Returns the gateway's metrics."""
    targets = json.loads((stack.folder.path / "metrics.json").read_text(encoding="utf-8"))
    [address] = next(one["targets"] for one in targets if one["labels"]["service"] == "gateway")
    async with httpx2.AsyncClient(trust_env=False) as http:
        return (await http.get(f"http://{address}/metrics")).raise_for_status().text


@pytest.mark.timeout(900)
async def test_a_point_in_time_is_restored_after_everything_was_lost(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    folder: Path = tmp_path_factory.mktemp("installation")
    with EmbeddedStack.started(folder, **PATIENT, RATE_LIMIT_PER_MINUTE="0") as stack:
        async with client(stack.url, stack.api_key) as http:
            badger = await uploaded(http, "badger", "sett")
            assert "(full)" in await backed_up(stack)
            await uploaded(http, "otter", "holt")
            session = await answered(http)
            async with neighbours(partial(new_tenant, stack.url, http), tmp_path) as both:
                pass
            before, moment = await recorded(http, session), datetime.now(UTC)
            await http.delete(f"/v1/documents/{badger}", params={"timeout": 30})
            assert "(incremental)" in await backed_up(stack)
            assert "attractor_backup_age_seconds" in await gauges(stack)
            await uploaded(http, "hare", "form")
        kill_everything(stack)
    remove(stack.folder)
    with EmbeddedStack.restored(folder, moment.isoformat(), **PATIENT, RATE_LIMIT_PER_MINUTE="0") as stack:
        async with client(stack.url, stack.api_key) as http:
            assert await recorded(http, session) == before
            async with again(stack, both) as same:
                await assert_no_route_reveals_the_other(same)
                await assert_the_first_is_unchanged(same)
        refused = await asyncio.to_thread(command, stack, "restore")
        assert (refused.returncode, "which a restore does not overwrite" in refused.stderr) == (1, True), refused
