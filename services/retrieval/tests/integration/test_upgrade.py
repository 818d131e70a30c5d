"""An index from before embedding spaces and blocks of postings: what was found is still found."""

from __future__ import annotations

import json
from uuid import uuid4

import numpy as np
import psycopg
import pytest

import service_kit.migrate
from relevance.wordpieces import decoded
from retrieval.lexical.postings import decode
from retrieval.ranking.features import Feature, Registry
from retrieval.reading.reader import IndexReader
from retrieval.spaces.rows import SpaceRows, ensure_vector_index, space_id
from retrieval.tuning.store import SearchSettingsStore
from service_kit.postgres import Database

OLD_DOCUMENT = "INSERT INTO indexed_document VALUES (%s, %s, %s, 1, 'a.md', NULL, '{}', 'text/plain', 1, 1)"
OLD_CHUNK = """
    INSERT INTO chunk (workspace_id, number, document, document_id, chunk_id, chunk_index, heading_path, content)
    VALUES (%s, %s, %s, %s, %s, 0, '{}', %s)
"""
OLD_VECTOR = "INSERT INTO chunk_vector VALUES (%s, %s, %s, 'old', '[1,2,3]')"
OLD_POSTING = "INSERT INTO posting VALUES (%s, %s, %s, %s, %s, %s)"
SPACES = "retrieval/0002_embedding_spaces.sql"
NARROW = "retrieval/0010_narrow_chunks.sql"
FEWER = "retrieval/0014_fewer_settings.sql"


@pytest.fixture
def before(monkeypatch, make_database):
    """before(name): (a database with the migrations before that one, a function that applies the others)."""
    every = service_kit.migrate.migrations

    def make(name: str):
        def some(package: str):
            return (one for one in every(package) if package != "retrieval" or one[0] < name)

        monkeypatch.setattr(service_kit.migrate, "migrations", some)
        urls = make_database("retrieval")
        monkeypatch.setattr(service_kit.migrate, "migrations", every)
        return urls, lambda: service_kit.migrate.migrate(urls.admin, urls.service, "retrieval", "retrieval")

    return make


@pytest.fixture
def at_first(before):
    return before(SPACES)


async def test_vectors_are_kept_and_assigned_to_the_active_space(at_first):
    urls, upgrade = at_first
    ours, theirs = uuid4(), uuid4()
    vectors = [(ours, 1, "old"), (ours, 2, "old"), (ours, 3, "stray"), (theirs, 4, "other")]
    with psycopg.connect(urls.admin) as connection:
        connection.execute("SET search_path = retrieval, public")
        connection.execute("SELECT ensure_vector_index('old', 3)")
        for workspace, number, model in vectors:
            values = (workspace, number, model)
            connection.execute("INSERT INTO chunk_vector VALUES (%s, %s, 1, %s, '[1,2,3]')", values)
    assert upgrade()[0] == SPACES
    async with Database(urls.service).opened() as database:
        for workspace, model, count in ((ours, "old", 2), (theirs, "other", 1)):
            async with database.workspace(workspace) as connection:
                rows = SpaceRows(connection, workspace)
                (row,) = await rows.spaces()
                assert (row.key, row.status, row.id) == ((model, 3), "active", space_id(model, 3))
                assert (await rows.counts())[1] == {(model, 3): count}
        async with database.system() as connection:
            assert await ensure_vector_index(connection, "old", 3) == f"chunk_vector_{space_id('old', 3)}"


async def test_postings_are_kept_and_chunks_are_numbered_by_their_documents(at_first):
    urls, upgrade = at_first
    ours, theirs = uuid4(), uuid4()
    chunks = [(ours, 7, 100, "a"), (ours, 9, 101, "b"), (ours, 7, 102, "c"), (theirs, 9, 103, "d")]
    with psycopg.connect(urls.admin) as connection:
        connection.execute("SET search_path = retrieval, public")
        connection.execute("SELECT ensure_vector_index('old', 3)")
        for workspace, document in sorted({(workspace, document) for workspace, document, _, _ in chunks}):
            connection.execute(OLD_DOCUMENT, (workspace, uuid4(), document))
        for workspace, document, number, content in chunks:
            connection.execute(OLD_CHUNK, (workspace, number, document, uuid4(), content, content))
            connection.execute(OLD_VECTOR, (workspace, number, document))
            for term, frequency in (("every", number - 99), (content, 1)):
                connection.execute(OLD_POSTING, (workspace, term, number, document, frequency, 1 + number - 99))
    upgrade()
    numbered = {"a": 7 << 20, "b": 9 << 20, "c": 7 << 20 | 1, "d": 9 << 20}
    with psycopg.connect(urls.admin) as connection:
        connection.execute("SET search_path = retrieval, public")
        assert dict(connection.execute("SELECT content, number FROM chunk")) == numbered
        vectors = "SELECT content FROM chunk JOIN chunk_vector ON chunk = chunk.number"
        vectors += " WHERE chunk.workspace_id = chunk_vector.workspace_id"
        assert sorted(connection.execute(vectors)) == [("a",), ("b",), ("c",), ("d",)]
        found = {
            (workspace, term, *row)
            for workspace, term, payload in connection.execute("SELECT workspace_id, term, payload FROM posting_block")
            for row in zip(*(column.tolist() for column in vars(decode(payload)).values()), strict=True)
        }
        expected = {(one[0], "every", numbered[one[3]], one[2] - 99, one[2] - 98) for one in chunks}
        assert found == expected | {(one[0], one[3], numbered[one[3]], 1, one[2] - 98) for one in chunks}
        headers = "SELECT first_chunk, last_chunk, postings, max_frequency, min_length FROM posting_block"
        headers += " WHERE term = 'every' AND workspace_id = %s"
        assert list(connection.execute(headers, (ours,))) == [(7 << 20, 9 << 20, 3, 3, 2)]
        counted = "SELECT next_ordinal, posting_count FROM indexed_document WHERE workspace_id = %s ORDER BY number"
        assert list(connection.execute(counted, (ours,))) == [(2, 4), (1, 2)]
        assert list(connection.execute("SELECT terms, postings FROM chunk WHERE content = 'c'")) == [(4, 2)]
        index = f"chunk_vector_{space_id('old', 3)}"
        assert list(connection.execute("SELECT to_regclass(%s)::text", (index,))) == [(index,)]


async def test_wordpieces_are_kept_and_chunks_belong_to_their_documents(before):
    urls, upgrade = before(NARROW)
    ours, document_id = uuid4(), uuid4()
    pieces = [[104, 105, 360, 30_000, 65_535], [255, 510, 511], [], None]
    facts = "workspace_id, document_id, number, version, name, title_terms, media_type, chunk_count, term_count"
    with psycopg.connect(urls.admin) as connection:
        connection.execute("SET search_path = retrieval, public")
        values = (ours, document_id, 7)
        document = f"INSERT INTO indexed_document ({facts}) VALUES (%s, %s, %s, 1, 'a.md', '{{}}', 'text/plain', 4, 1)"
        connection.execute(document, values)
        for at, own in enumerate(pieces):
            connection.execute(OLD_CHUNK, (ours, 7 << 20 | at, 7, document_id, f"chunk {at}", "text"))
            stored = None if own is None else np.array(own, "<u2").tobytes()
            connection.execute("UPDATE chunk SET pieces = %s WHERE number = %s", (stored, 7 << 20 | at))
    assert upgrade()[0] == NARROW
    async with Database(urls.service).opened() as database, database.workspace(ours) as connection:
        rows = await connection.execute("SELECT pieces FROM chunk ORDER BY number")
        stored = [row[0] for row in await rows.fetchall()]
        assert [None if one is None else decoded([one])[0].tolist() for one in stored] == pieces
        found = await IndexReader(connection, ours).chunks([7 << 20])
        assert (found[7 << 20].document_id, found[7 << 20].chunk_id) == (document_id, "chunk 0")


async def test_settings_and_spaces_of_an_earlier_release_are_kept(before):
    urls, upgrade = before(FEWER)
    ours, document_id = uuid4(), uuid4()
    spaces = [("old", "active", True), ("new", "building", False), ("spare", "ready", False)]
    facts = "workspace_id, document_id, number, version, name, title_terms, media_type, chunk_count, term_count"
    with psycopg.connect(urls.admin) as connection:
        connection.execute("SET search_path = retrieval, public")
        for model, status, incomplete in spaces:
            values = (ours, space_id(model, 3), model, status, incomplete)
            connection.execute(
                "INSERT INTO embedding_space (workspace_id, id, model, dims, status, incomplete) "
                "VALUES (%s, %s, %s, 3, %s, %s)",
                values,
            )
        document = f"INSERT INTO indexed_document ({facts}) VALUES (%s, %s, 7, 1, 'a.md', '{{}}', 'text/plain', 1, 1)"
        connection.execute(document, (ours, document_id))
        connection.execute("INSERT INTO document_vector VALUES (%s, 7, 'old', DEFAULT, '[1,2,3]')", (ours,))
        connection.execute("SELECT ensure_document_vector_index('old', 3)")
        connection.execute(
            "INSERT INTO search_settings (workspace_id, k1, document_vectors) VALUES (%s, 0.9, true)", (ours,)
        )
        weights = json.dumps({"cosine": 0.7, "document": 1.0})
        connection.execute("INSERT INTO space_weights VALUES (%s, 'old', 3, %s, false, 'a refit')", (ours, weights))
    later = ["0015_leased_work", "0016_line_boxes", "0017_markdown_places"]
    assert upgrade() == [FEWER, *(f"retrieval/{name}.sql" for name in later)]
    async with Database(urls.service).opened() as database:
        registry = Registry([Feature("cosine", 1.0)], {})
        settings = await SearchSettingsStore(database, ("default", 3), registry).get(ours)
        assert (settings.k1, settings.diversity, settings.weights["cosine"]) == (0.9, 0.0, 0.7)
        async with database.workspace(ours) as connection:
            rows = await SpaceRows(connection, ours).spaces()
        states = {row.model: (row.status, row.state) for row in rows}
        assert states == {"old": ("active", "queued"), "new": ("building", "queued"), "spare": ("ready", "idle")}
        async with database.system() as connection:
            await connection.execute("SELECT drop_unused_vector_indexes('old', 3)")
