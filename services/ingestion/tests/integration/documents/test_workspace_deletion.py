"""Deleting a workspace removes its rows and objects, stops running conversions, and late events leave nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any
from uuid import UUID, uuid4

import httpx2
import psycopg
import pytest
from redis.asyncio import Redis

from contracts.events import DOCUMENTS, Event, WorkspaceDeleted, WorkspacePurged
from service_kit.objects import ObjectStore
from service_kit.outbox import new_event

Entry = Callable[..., Awaitable[dict[str, Any]]]
Process = Callable[[str], Coroutine[Any, Any, None]]


@pytest.fixture
def delete_workspace(redis_url: str, workspace_id: UUID) -> Callable[[], Awaitable[WorkspacePurged]]:
    """`await delete_workspace()` publishes the deletion as the gateway does; returns this service's confirmation."""

    async def delete() -> WorkspacePurged:
        async with Redis.from_url(redis_url) as redis, asyncio.timeout(120):
            event = new_event("gateway", workspace_id, WorkspaceDeleted(), str(workspace_id))
            after = (await redis.xadd(DOCUMENTS, {"event": event.model_dump_json()})).decode()
            while True:
                for entry, fields in await redis.xrange(DOCUMENTS, min=f"({after}"):
                    after, told = entry.decode(), Event.model_validate_json(fields[b"event"])
                    if told.type == WorkspacePurged.event_type:
                        return WorkspacePurged.model_validate(told.data)
                await asyncio.sleep(0.05)

    return delete


async def test_a_workspace_deletion_leaves_other_workspaces_alone(
    searchable: Entry,
    client: httpx2.AsyncClient,
    object_store: ObjectStore,
    workspace_id: UUID,
    auth_headers: Any,
    delete_workspace: Any,
    database: Any,
    eventually: Any,
) -> None:
    other = uuid4()
    document = await searchable("a.md", b"Title\ntext")
    gone = await searchable("b.md", b"Another\ntext")
    await client.delete(f"/v1/documents/{gone['id']}")
    files = {"files": ("n.md", b"the neighbour's")}
    theirs = auth_headers(workspace_id=other)
    assert (await client.post("/v1/documents", files=files, headers=theirs)).status_code == 202

    receipt = await delete_workspace()
    assert receipt.service == "ingestion"
    for kind in ("document", "document_stage", "document_version", "origin", "deletion", "deletion_receipt", "objects"):
        assert receipt.removed[kind] > 0, kind
    assert set(receipt.remaining.values()) == {0}
    assert object_store.keys(f"{workspace_id}/") == []
    assert object_store.keys(f"{other}/") != []
    with psycopg.connect(database.admin, autocommit=True) as connection:

        async def relayed() -> bool:
            waiting = connection.execute(
                "SELECT count(*) FROM ingestion.outbox WHERE workspace_id = %s", (workspace_id,)
            )
            return waiting.fetchone() == (0,)

        await eventually(relayed)  # the outbox row is deleted only after the confirmation is on the stream
        tables = connection.execute(
            "SELECT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'workspace_id' "
            "WHERE relkind = 'r' AND relnamespace = 'ingestion'::regnamespace"
        ).fetchall()
        for (table,) in tables:
            rows = connection.execute(
                f"SELECT count(*) FROM ingestion.{table} WHERE workspace_id = %s", (workspace_id,)
            ).fetchone()
            assert rows == (int(table == "deleted_workspace"),), table
    assert (await client.get(f"/v1/documents/{document['id']}")).status_code == 404
    assert len((await client.get("/v1/documents", headers=theirs)).json()["items"]) == 1


async def test_an_upload_in_progress_leaves_nothing_in_a_deleted_workspace(
    client: httpx2.AsyncClient, object_store: ObjectStore, workspace_id: UUID, delete_workspace: Any
) -> None:
    await delete_workspace()
    refused = await client.post("/v1/documents", files={"files": ("late.md", b"late")})
    assert (refused.status_code, refused.json()["type"]) == (404, "workspace-deleted")
    assert object_store.keys(f"{workspace_id}/") == []


async def test_a_running_conversion_leaves_nothing_in_a_deleted_workspace(
    client: httpx2.AsyncClient,
    converter: Any,
    process: Process,
    object_store: ObjectStore,
    workspace_id: UUID,
    delete_workspace: Any,
) -> None:
    answer = await client.post("/v1/documents", files={"files": ("gate-1.md", b"Title\ntext")})
    document = answer.json()["files"][0]["document"]["id"]
    working = asyncio.create_task(process(document))
    await asyncio.to_thread(converter.started.wait, 120)
    receipt = await delete_workspace()
    assert receipt.removed["document_stage"] > 0
    await asyncio.wait_for(working, 120)  # the gate stays closed, so it gave up because it lost its lease
    assert not converter.gate.is_set()
    last = await delete_workspace()
    assert (last.removed["document"], set(last.remaining.values())) == (1, {0})
    assert object_store.keys(f"{workspace_id}/") == []
