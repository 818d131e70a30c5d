"""An index from before embedding spaces: each workspace goes on in the space that its vectors are of."""

from __future__ import annotations

from uuid import uuid4

import psycopg
import pytest

import service_kit.migrate
from retrieval.index.writer import ensure_vector_index
from retrieval.spaces.rows import SpaceRows, space_id
from service_kit.postgres import Database

SPACES = "retrieval/0002_embedding_spaces.sql"


@pytest.fixture
def at_first(monkeypatch, make_database):
    """(a database with the first migration alone, a function that applies the others)."""
    every = service_kit.migrate.migrations

    def first(package: str):
        return (one for one in every(package) if package != "retrieval" or one[0] < SPACES)

    monkeypatch.setattr(service_kit.migrate, "migrations", first)
    urls = make_database("retrieval")
    monkeypatch.setattr(service_kit.migrate, "migrations", every)
    return urls, lambda: service_kit.migrate.migrate(urls.admin, urls.service, "retrieval", "retrieval")


async def test_vectors_stay_and_name_the_active_space(at_first):
    urls, upgrade = at_first
    ours, theirs = uuid4(), uuid4()
    vectors = [(ours, 1, "old"), (ours, 2, "old"), (ours, 3, "stray"), (theirs, 4, "other")]
    with psycopg.connect(urls.admin) as connection:
        connection.execute("SET search_path = retrieval, public")
        connection.execute("SELECT ensure_vector_index('old', 3)")
        for workspace, number, model in vectors:
            values = (workspace, number, model)
            connection.execute("INSERT INTO chunk_vector VALUES (%s, %s, 1, %s, '[1,2,3]')", values)
    assert upgrade() == [SPACES]
    async with Database(urls.service).opened() as database:
        for workspace, model, count in ((ours, "old", 2), (theirs, "other", 1)):
            async with database.workspace(workspace) as connection:
                rows = SpaceRows(connection, workspace)
                (row,) = await rows.all()
                assert (row.key, row.status, row.id) == ((model, 3), "active", space_id(model, 3))
                assert (await rows.counts())[1] == {(model, 3): count}
        async with database.system() as connection:
            assert await ensure_vector_index(connection, "old", 3) == f"chunk_vector_{space_id('old', 3)}"
