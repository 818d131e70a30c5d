"""A deleted workspace leaves the graph, and no late event brings it back."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from uuid import UUID, uuid4

import pytest
from pydantic import SecretStr

from contracts.events import DocumentDeleted, WorkspaceDeleted
from knowledge_graph.neo4j.connection import Neo4jConnection
from knowledge_graph.neo4j.projection import Neo4jProjection
from knowledge_graph.projection.queue import ProjectionQueues
from knowledge_graph.settings import Neo4jSettings
from service_kit.postgres import Database

TEXT = "The BillingService depends on AuthService and UserDB."


async def purged(documents, count=1):
    async with asyncio.timeout(120):
        while len(found := await documents.told("workspace.purged.v1")) < count:  # noqa: ASYNC110  another server's
            await asyncio.sleep(0.05)
    return found[-1]


async def test_all_data_of_the_workspace_is_deleted_and_others_are_unaffected(documents, entities):
    other = uuid4()
    await documents.graph([TEXT])
    await documents.graph([TEXT], workspace_id=other)
    gone = await documents.graph(["LedgerService calls BankGateway."])
    await documents.delete(gone)
    await documents.send(WorkspaceDeleted())
    receipt = await purged(documents)
    assert receipt["service"] == "knowledge-graph"
    for table in ("entity", "mention", "relation", "relation_evidence", "graphed_document", "deleted_document"):
        assert receipt["removed"][table] > 0, table
    assert set(receipt["remaining"].values()) == {0}
    assert await entities() == {}
    assert "BillingService" in await entities(workspace_id=other)

    await documents.send(documents.convert([TEXT]))
    late = documents.convert([TEXT])
    await documents.send(late.model_copy(update={"chunks_key": f"{late.chunks_key}.purged"}))
    await documents.send(DocumentDeleted(document_id=uuid4()))
    await documents.drained()
    assert await entities() == {}
    await documents.send(WorkspaceDeleted())  # announced again
    again = await purged(documents, 2)
    assert again == receipt


async def test_an_extraction_in_progress_leaves_nothing(client, documents, entities, monkeypatch):
    extractor = client.app.state.graph.extractor
    begun, proceed, extract = asyncio.Event(), asyncio.Event(), extractor.extract

    async def slow(document):
        begun.set()
        await proceed.wait()
        return await extract(document)

    monkeypatch.setattr(extractor, "extract", slow)
    await documents.send(documents.convert([TEXT]))
    await asyncio.wait_for(begun.wait(), 120)
    async with (
        Database(client.database_url, 1).opened() as database,
        database.workspace(documents.workspace_id) as connection,
    ):
        await connection.execute("SELECT delete_workspace(%s)", (documents.workspace_id,))
    await purged(documents)
    proceed.set()
    await documents.drained()
    assert await entities() == {}
    assert await documents.told("document.graphed.v1") == []


async def test_documents_are_listed_with_their_graphed_version(client, documents, auth_headers):
    ids = [await documents.graph([TEXT], name=f"{number}.md") for number in range(3)]
    await documents.graph([TEXT], document_id=ids[0], version=2)
    seen, cursor = [], None
    while True:
        params = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = (await client.get("/v1/graph/documents", params=params, headers=auth_headers())).json()
        seen += page["items"]
        if (cursor := page["next_cursor"]) is None:
            break
    assert [one["document_id"] for one in seen] == sorted(map(str, ids))
    assert {one["document_id"]: one["version"] for one in seen}[str(ids[0])] == 2
    assert all(one["mentions"] == 4 and one["projected"] for one in seen)
    refused = await client.get("/v1/graph/documents?cursor=zzz", headers=auth_headers())
    assert (refused.status_code, refused.json()["type"]) == (422, "bad-cursor")
    other = await client.get("/v1/graph/documents", headers=auth_headers(workspace_id=uuid4()))
    assert other.json()["items"] == []


@pytest.mark.neo4j
async def test_the_nodes_of_the_workspace_are_deleted_from_neo4j(build, running, documents, neo4j_url):
    url, user, password = neo4j_url
    settings = {"neo4j_url": url, "neo4j_user": user, "neo4j_password": SecretStr(password)}
    app = build(**settings)
    async with (
        aclosing(Neo4jConnection(Neo4jSettings(**settings))) as neo4j,
        Database(app.state.database_url, 1).opened() as database,
        running(app),
    ):
        projection = Neo4jProjection(neo4j)
        await documents.graph([TEXT])
        async with asyncio.timeout(120):
            while not await is_projected(database, documents.workspace_id):  # noqa: ASYNC110  another task's transaction
                await asyncio.sleep(0.05)
        assert await projection.remaining(documents.workspace_id) > 0
        await documents.send(WorkspaceDeleted())
        receipt = await purged(documents)
        assert receipt["removed"]["neo4j_nodes"] > 0
        assert receipt["remaining"]["neo4j_nodes"] == 0
        assert await projection.remaining(documents.workspace_id) == 0


async def is_projected(database: Database, workspace_id: UUID) -> bool:
    async with database.system() as connection:
        return await ProjectionQueues(connection).is_empty(workspace_id)
