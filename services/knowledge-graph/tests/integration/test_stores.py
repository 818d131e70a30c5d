"""Neo4j as the store that answers, and what happens when it is down."""

from __future__ import annotations

import asyncio

import pytest
from sent_events import event_of

from contracts.events import DocumentDeleted
from knowledge_graph.consumer import DocumentGraphs
from knowledge_graph.extraction.extractor import Extractor
from service_kit.outbox import Outbox
from service_kit.postgres import Database

TEXT = "AuthService calls UserDB."


@pytest.mark.neo4j
async def test_neo4j_answers_once_it_is_up_to_date(build, running, documents, auth_headers, neo4j_url):
    url, user, password = neo4j_url
    async with running(build(neo4j_url=url, neo4j_user=user, neo4j_password=password)) as client:

        async def status():
            return (await client.get("/v1/graph/status", headers=auth_headers())).json()

        document = await documents.graph([TEXT])
        async with asyncio.timeout(120):
            while (found := await status())["store"] != "neo4j":  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert (found["entities"], found["documents"]) == (3, 1)
        body = {"query": "who calls the user db"}
        expanded = (await client.post("/v1/graph/expand", json=body, headers=auth_headers())).json()
        assert (expanded["store"], expanded["entities"][0]["name"]) == ("postgres", "UserDB")
        receipt = await documents.delete(document)
        assert receipt["removed"]["mentions"] == 3
        assert set(receipt["remaining"].values()) == {0}


async def test_without_neo4j_reads_continue_and_a_deletion_waits_for_its_receipt(
    build, running, documents, auth_headers
):
    async with running(build(neo4j_url="bolt://127.0.0.1:1")) as client:
        document = await documents.graph([TEXT])
        body = {"query": "AuthService"}
        expanded = (await client.post("/v1/graph/expand", json=body, headers=auth_headers())).json()
        assert (expanded["store"], len(expanded["chunks"])) == ("postgres", 1)
        assert (await client.get("/readyz")).status_code == 200
        await documents.send(DocumentDeleted(document_id=document))
        await documents.drained()
        assert await documents.told("document.purged.v1") == []
        status = (await client.get("/v1/graph/status", headers=auth_headers())).json()
        assert status["store"] == "postgres"


async def test_two_replicas_process_documents_with_the_same_names(make_database, documents, object_store, workspace_id):
    url = make_database("knowledge_graph").service
    async with Database(url, 4).opened() as database, Extractor() as extractor:
        replicas = [DocumentGraphs(database, object_store, extractor, Outbox("test"), projects=False) for _ in range(2)]
        texts = ["AuthService calls UserDB.", "UserDB is used by AuthService.", "LedgerDB, UserDB and AuthService."]
        events = [event_of(documents.convert([text], name=f"{n}.md"), workspace_id) for n, text in enumerate(texts * 3)]
        await asyncio.gather(*(replicas[number % 2].graph(event) for number, event in enumerate(events)))
        async with database.workspace(workspace_id) as connection:
            cursor = await connection.execute("SELECT mentions, documents FROM entity WHERE name = 'AuthService'")
            assert await cursor.fetchone() == (9, 9)
        await replicas[0].give_up(events[0], "ObjectMissing: chunks.jsonl")
        async with database.workspace(workspace_id) as connection:
            cursor = await connection.execute(
                "SELECT event -> 'data' ->> 'stage', event -> 'data' ->> 'error_class' FROM outbox "
                "WHERE event ->> 'type' = 'document.failed.v1'"
            )
            assert await cursor.fetchall() == [("graph", "ObjectMissing")]
