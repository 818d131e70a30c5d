"""Reads while Neo4j is rebuilt are right, complete, and from a single moment."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from unittest.mock import AsyncMock
from uuid import UUID, uuid4

import pytest
from pydantic import SecretStr

from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.records import SourceChunk, SourceDocument
from knowledge_graph.graph_store import EntityFilter, GraphStore, MentioningChunk, StoredEntity
from knowledge_graph.neo4j import maintenance
from knowledge_graph.neo4j.connection import Neo4jConnection
from knowledge_graph.neo4j.maintenance import differences, rebuild
from knowledge_graph.neo4j.store import Neo4jStore
from knowledge_graph.projection.queue import queue
from knowledge_graph.recording.provenance import Graphed, GraphProvenance, MadeFrom
from knowledge_graph.settings import Neo4jSettings
from knowledge_graph.store.postgres import PostgresStore
from knowledge_graph.store.reader import FASTER, GraphReader
from service_kit.postgres import Database

DOCUMENTS = 5
READERS = 2
REBUILDS = 2
FROM_NEO4J = dict.fromkeys(FASTER, "neo4j")


@pytest.fixture
async def neo4j(neo4j_url):
    url, user, password = neo4j_url
    settings = Neo4jSettings(neo4j_url=url, neo4j_user=user, neo4j_password=SecretStr(password))
    connection = Neo4jConnection(settings)
    yield connection
    await connection.aclose()


async def everything(store: GraphStore, workspace_id) -> tuple[object, ...]:
    """Reads several things, as one request does."""
    entities = await store.list_entities(workspace_id, EntityFilter(limit=200))
    ids = sorted(one.id for one in entities)
    return (
        entities,
        await store.counts(workspace_id),
        [await store.relations_of(workspace_id, one, 50) for one in ids[:2]],
        await store.chunks_of(workspace_id, ids, 10),
    )


@pytest.fixture
async def database(make_database):
    async with Database(make_database("knowledge_graph").service, 8).opened() as database:
        yield database


async def graph(database: Database, workspace_id: UUID, texts: Sequence[str]) -> None:
    """Records the documents as a service without Neo4j does, so that only the rebuild projects them."""
    for number, text in enumerate(texts):
        document = SourceDocument(f"part{number}.md", None, False, (SourceChunk(f"c{number}", text),))
        made = MadeFrom(1, document.name, None, "en", "key", "digest")
        graphed = Graphed(uuid4(), made, 1, extract(document, None))
        async with database.workspace(workspace_id) as connection:
            changes = await GraphProvenance(connection, workspace_id).replace(graphed)
            await queue(connection, workspace_id, changes, projects=False)


@pytest.mark.neo4j
async def test_answers_stay_correct_and_complete_during_a_rebuild_of_the_projection(database, neo4j, workspace_id):
    texts = [
        f"Service{number}DB depends on Router{number % 3}DB. Router{number % 3}DB uses CoreDB."
        for number in range(DOCUMENTS)
    ]
    await graph(database, workspace_id, texts)
    truth = PostgresStore(database)
    reader = GraphReader(truth, Neo4jStore(neo4j, truth), faster=FROM_NEO4J)
    expected = await everything(truth, workspace_id)
    await rebuild(database, neo4j, workspace_id)
    ended, stores = asyncio.Event(), Counter[str]()

    async def reading() -> None:
        while not ended.is_set():
            found, store = await reader.read(workspace_id, "entity", lambda store: everything(store, workspace_id))
            assert found == expected
            stores[store] += 1

    readers = [asyncio.create_task(reading()) for _ in range(READERS)]
    try:
        for _ in range(REBUILDS):
            await rebuild(database, neo4j, workspace_id)
            answered = stores["neo4j"]
            async with asyncio.timeout(120):
                while stores["neo4j"] == answered and not any(one.done() for one in readers):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)  # the readers of this test
    finally:
        ended.set()
        await asyncio.gather(*readers)
    assert min(stores["neo4j"], stores["postgres"]) > 0
    assert workspace_id not in await differences(database, neo4j)


@pytest.mark.neo4j
async def test_a_question_during_a_projection_is_retried(database, neo4j, workspace_id):
    await graph(database, workspace_id, ["AuthService calls UserDB."])
    truth = PostgresStore(database)
    reader = GraphReader(truth, Neo4jStore(neo4j, truth), faster=FROM_NEO4J)
    await rebuild(database, neo4j, workspace_id)

    async def disturbed(store: GraphStore) -> str:
        if store.name == "neo4j":
            await rebuild(database, neo4j, workspace_id)
        return store.name

    async def failing(store: GraphStore) -> str:
        if store.name == "neo4j":
            await rebuild(database, neo4j, workspace_id)
            raise LookupError
        return store.name

    assert (await reader.read(workspace_id, "entity", disturbed))[1] == "postgres"
    assert (await reader.read(workspace_id, "entity", failing))[1] == "postgres"
    status, store = await reader.read(workspace_id, "counts", lambda store: store.statistics(workspace_id))
    assert (store, status.documents) == ("neo4j", 1)


@pytest.fixture
def compared(database, monkeypatch):
    """`await compared(copy)`: the differences between the tables and `copy`, a store that stands for Neo4j."""

    async def differing(copy: GraphStore) -> dict[UUID, list[str]]:
        async with database.system() as connection:
            await connection.execute("DELETE FROM projection_queue")  # everything so far is projected
        monkeypatch.setattr(maintenance, "Neo4jStore", lambda *_: copy)
        monkeypatch.setattr(maintenance.Neo4jProjection, "workspaces", AsyncMock(return_value=set()))
        return await differences(database, AsyncMock())

    return differing


async def test_a_graph_that_changes_while_it_is_compared_does_not_count_as_different(database, workspace_id, compared):
    class Later(PostgresStore):
        async def list_entities(self, workspace_id: UUID, wanted: EntityFilter) -> list[StoredEntity]:
            await graph(database, workspace_id, ["BillingRouter calls LedgerDB."])
            return await super().list_entities(workspace_id, wanted)

    await graph(database, workspace_id, ["AuthService calls UserDB."])
    assert await compared(Later(database)) == {}


async def test_a_projection_that_lacks_something_is_different(database, workspace_id, compared):
    class Lacking(PostgresStore):
        async def chunks_of(self, *_: object) -> list[MentioningChunk]:
            return []

    await graph(database, workspace_id, ["AuthService calls UserDB."])
    assert await compared(Lacking(database)) == {workspace_id: ["mentions"]}
    assert await compared(PostgresStore(database)) == {}
