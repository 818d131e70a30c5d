"""Writers of one workspace take turns, and announce that the graph has changed."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest
from psycopg.errors import LockNotAvailable

from contracts.events import DocumentDescribed
from knowledge_graph.recording.provenance import GraphProvenance
from service_kit.postgres import Database

TEXT = "AuthService calls UserDB."


@pytest.fixture
async def database(make_database):
    options = {"options": "-c statement_timeout=2s"}
    async with Database(make_database("knowledge_graph").service, 4, **options).opened() as database:
        yield database


async def waiting(database: Database) -> None:
    """Waits until a writer is waiting for its turn."""
    async with asyncio.timeout(120):
        while True:
            async with database.system() as connection:
                query = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
                if (await (await connection.execute(query)).fetchone() or (0,))[0]:
                    return
            await asyncio.sleep(0.01)  # a wait inside the server has no event


async def test_waiting_for_a_turn_may_exceed_the_statement_timeout(database, workspace_id):
    async def take() -> str:
        async with database.workspace(workspace_id) as connection:
            await GraphProvenance(connection, workspace_id).lock()
            row = await (await connection.execute("SHOW statement_timeout")).fetchone()
            assert row is not None
            return row[0]

    async with database.workspace(workspace_id) as connection:
        await GraphProvenance(connection, workspace_id).lock()
        await connection.execute("SET LOCAL statement_timeout = 0")
        second = asyncio.create_task(take())
        await waiting(database)
        await connection.execute("SELECT pg_sleep(2.5)")
        assert not second.done()
        # Other workspaces are not delayed.
        async with database.workspace(uuid4()) as other:
            await GraphProvenance(other, uuid4()).lock()
    assert await second == "2s"


async def test_waiting_for_a_turn_times_out(database, workspace_id):
    async with database.workspace(workspace_id) as connection:
        await GraphProvenance(connection, workspace_id).lock()
        with pytest.raises(LockNotAvailable):
            async with database.workspace(workspace_id) as second:
                await GraphProvenance(second, workspace_id).lock("50ms")


async def test_every_change_increments_the_generation(client, documents, auth_headers):
    async def generation(**who) -> str:
        answer = await client.get("/v1/graph/generation", headers=auth_headers(**who))
        return answer.json()["generation"]

    other = uuid4()
    empty, others = await generation(), await generation(workspace_id=other)
    document = await documents.graph([TEXT])
    first = await generation()
    assert first != empty
    assert await generation() == first

    data = documents.convert([TEXT], document_id=document)
    await documents.send(data.model_copy(update={"vectors_key": None}))
    await documents.told_of(2)
    assert await generation() == first

    described = DocumentDescribed(
        document_id=document, version=1, name="b.md", title=None, tags=[], source_type="upload"
    )
    await documents.send(described)
    await documents.told_of(3)
    second = await generation()
    table = "subject,predicate,object\nAuthService,uses,UserDB\n"
    params = {"name": "mine", "format": "csv"}
    brought = await client.post("/v1/graph/triples", params=params, content=table, headers=auth_headers())
    third = await generation()
    await client.delete(f"/v1/graph/triples/{brought.json()['id']}", headers=auth_headers())
    fourth = await generation()
    await documents.delete(document)
    assert len({empty, first, second, third, fourth, await generation()}) == 6
    assert await generation(workspace_id=other) == others
