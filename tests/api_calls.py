"""HTTP calls of the end-to-end tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
from people import make_user

from service_kit.http_service import service_client

REPOSITORY = Path(__file__).resolve().parents[1]
EXAMPLES = REPOSITORY / "infra" / "examples"
EVALUATION = REPOSITORY.parent / "shared" / "eval"
PATIENCE = 240.0
"""How long a test waits for what takes a second or two on an idle machine."""


@dataclass(frozen=True)
class Tenant:
    """A workspace and a client that holds its owner's key."""

    workspace_id: UUID
    http: httpx2.AsyncClient


def client(url: str, key: str) -> httpx2.AsyncClient:
    """Returns a client with a longer timeout than any that a test requests from the server."""
    return service_client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=300)


async def created(http: httpx2.AsyncClient, path: str, body: dict[str, object]) -> dict[str, str]:
    response = await http.post(path, json=body)
    assert response.status_code == 201, response.text
    answer: dict[str, str] = response.json()
    return answer


@asynccontextmanager
async def new_tenant(url: str, admin: httpx2.AsyncClient, name: str) -> AsyncIterator[Tenant]:
    """Yields a new workspace with its own user and that owner's key."""
    workspace = (await created(admin, "/v1/workspaces", {"name": name}))["id"]
    _, key = await make_user(admin, workspace, "owner", f"owner of {name}")
    async with client(url, key["key"]) as http:
        yield Tenant(UUID(workspace), http)


async def ingest(http: httpx2.AsyncClient, paths: list[Path]) -> dict[str, dict[str, object]]:
    """Uploads the files in one request and waits until each is searchable; returns the documents by file name."""
    files = [("files", (path.name, path.read_bytes())) for path in paths]
    response = await http.post("/v1/documents", files=files)
    assert response.status_code == 202, response.text
    documents = {}
    for one in response.json()["files"]:
        assert one["document"], one
        documents[one["name"]] = await processed(http, one["document"]["id"])
        assert documents[one["name"]]["status"] == "searchable", documents[one["name"]]
    return documents


async def processed(http: httpx2.AsyncClient, identifier: str) -> dict[str, object]:
    """Waits until a document is no longer processing; returns its details."""
    async with asyncio.timeout(PATIENCE):
        while True:
            response = await http.get(f"/v1/documents/{identifier}", params={"wait": "searchable", "timeout": 60})
            found: dict[str, object] = response.raise_for_status().json()
            if found["status"] != "processing":
                return found


async def settled(http: httpx2.AsyncClient, identifier: str) -> dict[str, Any]:
    """Waits until no stage of a document is to be done, its graph included; returns its details."""
    async with asyncio.timeout(PATIENCE):
        while True:
            response = await http.get(f"/v1/documents/{identifier}", params={"wait": "settled", "timeout": 60})
            found: dict[str, Any] = response.raise_for_status().json()
            if not {stage["status"] for stage in found["stages"]} & {"waiting", "queued", "running"}:
                return found


async def ask(http: httpx2.AsyncClient, question: str) -> dict[str, object]:
    """Starts a session, asks, and returns the run_completed event's data."""
    events = [event async for event in question_events(http, question)]
    assert events[-1][1] == "run_completed", events[-1]
    return events[-1][2]


async def question_events(http: httpx2.AsyncClient, question: str) -> AsyncIterator[tuple[str, str, dict[str, object]]]:
    session = (await http.post("/v1/sessions", json={})).json()["id"]
    headers = {"Accept": "text/event-stream"}
    async with http.stream(
        "POST", f"/v1/sessions/{session}/messages", json={"content": question}, headers=headers
    ) as response:
        assert response.status_code in {200, 202}
        async for event in events_of(response):
            yield event


async def events_of(response: httpx2.Response) -> AsyncIterator[tuple[str, str, dict[str, object]]]:
    """Returns (id, event name, data) of each event in a server-sent event stream."""
    fields: dict[str, str] = {}
    async for line in response.aiter_lines():
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
        elif fields.get("data"):
            yield fields.get("id", ""), fields["event"], json.loads(fields["data"])
            fields = {}


async def eventually(http: httpx2.AsyncClient, path: str, body: dict[str, object], field: str) -> dict[str, object]:
    """Repeats a request until `field` of the response is not empty, for effects that follow an upload later."""
    async with asyncio.timeout(PATIENCE):
        while True:
            answer: dict[str, object] = (await http.post(path, json=body)).json()
            if answer.get(field):
                return answer
            await asyncio.sleep(0.2)  # the API has no event for it


async def listed(http: httpx2.AsyncClient, path: str) -> list[dict[str, str]]:
    """Waits until the list has items, which may follow an upload with a delay; returns them."""
    async with asyncio.timeout(PATIENCE):
        while True:
            items: list[dict[str, str]] = (await http.get(path)).json()["items"]
            if items:
                return items
            await asyncio.sleep(0.2)  # the API has no event for it
