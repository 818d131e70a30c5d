"""A workspace is deleted with all its data and work in progress; its neighbour keeps everything."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
from api_calls import EXAMPLES, PATIENCE, ask, eventually, ingest

SERVICES = {"gateway", "ingestion", "retrieval", "knowledge-graph", "memory", "orchestrator"}


async def completed(admin: httpx2.AsyncClient, path: str) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while True:
            receipt: dict[str, Any] = (await admin.get(f"{path}/receipt")).json()
            if receipt["completed_at"]:
                return receipt
            await asyncio.sleep(0.2)  # the API has no event for it


async def test_everything_is_deleted_with_a_receipt(make_tenant, admin) -> None:
    async with make_tenant("doomed") as doomed, make_tenant("neighbour") as neighbour:
        examples = sorted(EXAMPLES.rglob("*.md"))[:3]
        for tenant in (doomed, neighbour):
            await ingest(tenant.http, examples)
            await ask(tenant.http, "What is this about?")
            assert (await tenant.http.post("/v1/memories", json={"content": "a note"})).status_code == 201
            await eventually_listed(tenant.http, "/v1/graph/entities")
        # Work in progress: queued documents, and an answer that is being written.
        waiting = [("files", (f"{number}.md", f"# Late {number}\n\nText {number}.".encode())) for number in range(20)]
        assert (await doomed.http.post("/v1/documents", files=waiting)).status_code == 202
        session = (await doomed.http.post("/v1/sessions", json={})).json()["id"]
        await doomed.http.post(f"/v1/sessions/{session}/messages", json={"content": "And this?"})

        path = f"/v1/workspaces/{doomed.workspace_id}"
        assert (await doomed.http.delete(path, params={"name": "another"})).status_code == 422
        assert (await neighbour.http.delete(path, params={"name": "doomed"})).status_code == 404
        response = await doomed.http.delete(path, params={"name": "doomed", "timeout": 60})
        assert response.status_code in {200, 202}, response.text
        assert (await doomed.http.get("/v1/me")).status_code == 401
        assert (await doomed.http.post("/v1/search", json={"query": "text"})).status_code == 401

        receipt = await completed(admin, path)
        assert receipt["pending"] == []
        by_service = {one["service"]: one for one in receipt["services"]}
        assert set(by_service) == SERVICES
        for service, kind in (
            ("gateway", "api_key"),
            ("ingestion", "document"),
            ("ingestion", "objects"),
            ("retrieval", "chunk"),
            ("knowledge-graph", "mention"),
            ("memory", "memory"),
            ("orchestrator", "session"),
        ):
            assert by_service[service]["removed"][kind] > 0, (service, kind)
        for service in by_service.values():
            assert set(service["remaining"].values()) == {0}, service
        assert (await admin.get(path)).status_code == 404
        await still_there(neighbour.http)


async def eventually_listed(http: httpx2.AsyncClient, path: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while not (await http.get(path)).json()["items"]:  # noqa: ASYNC110  the API has no event for it
            await asyncio.sleep(0.2)


async def still_there(http: httpx2.AsyncClient) -> None:
    for path in ("/v1/documents", "/v1/graph/entities?min_mentions=1", "/v1/memories", "/v1/sessions"):
        assert (await http.get(path)).json()["items"], path
    await eventually(http, "/v1/search", {"query": "What is this about?"}, "hits")


async def test_the_workspace_of_the_last_administrator_cannot_be_deleted(admin) -> None:
    home = (await admin.get("/v1/me")).json()["workspace"]
    refused = await admin.delete(f"/v1/workspaces/{home['id']}", params={"name": home["name"]})
    assert (refused.status_code, refused.json()["type"]) == (409, "last-admin-key")
