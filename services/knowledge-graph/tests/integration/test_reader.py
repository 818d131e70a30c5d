"""Which store answers a read."""

from __future__ import annotations

from uuid import UUID

import pytest
from prometheus_client import CollectorRegistry

from knowledge_graph.graph_store import GraphStore, Statistics
from knowledge_graph.neo4j.connection import Neo4jConnection
from knowledge_graph.neo4j.store import Neo4jStore
from knowledge_graph.projection.queue import ProjectionQueue
from knowledge_graph.settings import Neo4jSettings
from knowledge_graph.store.postgres import PostgresStore
from knowledge_graph.store.reader import GraphReader
from service_kit.postgres import Database

FASTER = {"counts": "postgres", "shortest_path": "neo4j"}


class Projected(PostgresStore):
    """A projection that has the same as the tables."""

    name = "neo4j"


@pytest.fixture
async def database(make_database):
    async with Database(make_database("knowledge_graph").service, 3).opened() as database:
        yield database


class Reading:
    def __init__(self, database: Database, projection: GraphStore | None, workspace_id: UUID) -> None:
        self.registry, self.workspace_id = CollectorRegistry(), workspace_id
        self.reader = GraphReader(PostgresStore(database), projection, self.registry, FASTER)

    async def store(self, what: str) -> str:
        """Returns the store that answers."""
        found, store = await self.reader.read(
            self.workspace_id, what, lambda store: store.statistics(self.workspace_id)
        )
        assert found == Statistics(0, 0, 0)
        return store

    def replaced(self, reason: str) -> float | None:
        return self.registry.get_sample_value("attractor_graph_reads_replaced_total", {"reason": reason})


async def test_a_read_goes_to_the_store_that_is_faster_at_it(database, workspace_id):
    reading = Reading(database, Projected(database), workspace_id)
    assert await reading.store("shortest_path") == "neo4j"
    assert await reading.store("counts") == "postgres"
    assert await reading.reader.current(workspace_id) == "neo4j"
    assert reading.replaced("behind") == reading.replaced("unavailable") == 0


async def test_without_neo4j_every_read_goes_to_postgresql(database, workspace_id):
    reading = Reading(database, None, workspace_id)
    assert await reading.store("shortest_path") == await reading.store("counts") == "postgres"
    assert await reading.reader.current(workspace_id) == "postgres"
    assert reading.replaced("unavailable") == 0


async def test_while_neo4j_is_behind_postgresql_replaces_it_and_this_is_counted(database, workspace_id):
    reading = Reading(database, Projected(database), workspace_id)
    async with database.workspace(workspace_id) as connection:
        await ProjectionQueue(connection, workspace_id).add_workspace()
    assert await reading.store("shortest_path") == await reading.reader.current(workspace_id) == "postgres"
    assert reading.replaced("behind") == 2


async def test_while_neo4j_is_down_postgresql_replaces_it_and_this_is_counted(database, workspace_id):
    neo4j = Neo4jConnection(Neo4jSettings(neo4j_url="bolt://127.0.0.1:1"))
    reading = Reading(database, Neo4jStore(neo4j, PostgresStore(database)), workspace_id)
    assert [await reading.store("shortest_path") for _ in range(2)] == ["postgres", "postgres"]
    assert await reading.reader.current(workspace_id) == "postgres"
    assert reading.replaced("unavailable") == 3
    assert await reading.store("counts") == "postgres"
    assert reading.replaced("unavailable") == 3
    await neo4j.aclose()
