"""A graph from before names were resolved: its rows stay, and documents graphed again are as new."""

from __future__ import annotations

from uuid import UUID, uuid4

import psycopg
import pytest

import service_kit.migrate
from contracts.graph_tools import AnalyzeDependencies
from knowledge_graph.expansion.bridging import Bridging, entities
from knowledge_graph.expansion.gazetteer import Gazetteers
from knowledge_graph.expansion.hops import expand
from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.names import entity_id, name_key
from knowledge_graph.extraction.records import SourceChunk, SourceDocument
from knowledge_graph.graph_store import EntityFilter
from knowledge_graph.recording.generation import Generations
from knowledge_graph.recording.provenance import Graphed, GraphProvenance, MadeFrom
from knowledge_graph.recording.recount import wrong_sums
from knowledge_graph.store.postgres import PostgresStore
from knowledge_graph.tools.dependencies import analyze_dependencies
from service_kit.postgres import Database

RESOLUTION = "knowledge_graph/0003_resolution.sql"
AUTH, USERS = "AuthService", "UserDB"
TEXT = "AuthService depends on UserDB."


@pytest.fixture
def old(monkeypatch, make_database):
    """Returns (a database as it was before names were resolved, a function that applies the later migrations)."""
    every = service_kit.migrate.migrations

    def some(package: str):
        return (one for one in every(package) if package != "knowledge_graph" or one[0] < RESOLUTION)

    monkeypatch.setattr(service_kit.migrate, "migrations", some)
    urls = make_database("knowledge_graph")
    monkeypatch.setattr(service_kit.migrate, "migrations", every)
    return urls, lambda: service_kit.migrate.migrate(urls.admin, urls.service, "knowledge_graph", "knowledge_graph")


def identity(name: str) -> tuple[str, str]:
    return entity_id(name_key(name)), name_key(name)


def fill(admin: str, workspace_id: UUID) -> list[UUID]:
    """Writes two documents that say the same, as stored at that time, and a deleted one that waits for Neo4j."""
    documents = [uuid4(), uuid4()]
    (auth, auth_key), (users, users_key) = identity(AUTH), identity(USERS)
    with psycopg.connect(admin) as connection:
        connection.execute("SET search_path = knowledge_graph, public")
        for number, document in enumerate(documents):
            connection.execute(
                "INSERT INTO graphed_document (workspace_id, document_id, version, name, chunks, entities, relations, "
                "method, title, chunks_key) VALUES (%s, %s, 1, 'auth.md', 1, 2, 2, 'patterns', 'AuthService', 'key')",
                (workspace_id, document),
            )
            mentions = [(auth, auth_key, AUTH, True), (auth, auth_key, "auth service", False)]
            mentions.append((users, users_key, USERS, False))
            for place, (entity, key, surface, about) in enumerate(mentions):
                connection.execute(
                    "INSERT INTO mention VALUES (%s, %s, %s, %s, %s, %s, %s, 'SERVICE', 0, 5, %s)",
                    (workspace_id, document, place, entity, key, f"c{number}", surface, about),
                )
            for place, (kind, weight) in enumerate((("DEPENDS_ON", 2.0), ("CO_OCCURS", 1.0))):
                source, target = (auth, users) if kind == "DEPENDS_ON" else sorted((auth, users))
                connection.execute(
                    "INSERT INTO relation_evidence VALUES (%s, %s, %s, %s, %s, %s, %s, 0.9, %s, 0, 30)",
                    (workspace_id, document, place, source, target, kind, weight, f"c{number}"),
                )
        connection.execute(
            "INSERT INTO entity VALUES (%(w)s, %(a)s, %(ak)s, 'AuthService', 'SERVICE', 4, 2, '{auth service}'), "
            "(%(w)s, %(u)s, %(uk)s, 'UserDB', 'SERVICE', 2, 2, '{}')",
            {"w": workspace_id, "a": auth, "ak": auth_key, "u": users, "uk": users_key},
        )
        for kind, weight in (("DEPENDS_ON", 4.0), ("CO_OCCURS", 2.0)):
            source, target = (auth, users) if kind == "DEPENDS_ON" else sorted((auth, users))
            connection.execute(
                "INSERT INTO relation VALUES (%s, %s, %s, %s, %s, 2)", (workspace_id, source, target, kind, weight)
            )
        gone = uuid4()
        connection.execute("INSERT INTO deleted_document VALUES (%s, %s)", (workspace_id, gone))
        connection.execute(
            "INSERT INTO projection_queue (workspace_id, document_id, receipt) VALUES (%s, %s, '{\"mentions\": 3}')",
            (workspace_id, gone),
        )
        return [*documents, gone]


async def test_rows_of_an_earlier_version_give_the_same_answers(old):
    urls, upgrade = old
    workspace_id = uuid4()
    *documents, gone = fill(urls.admin, workspace_id)
    upgrade()
    async with Database(urls.service, 3).opened() as database:
        store = PostgresStore(database)
        assert not await wrong_sums(database, workspace_id)
        listed = await store.list_entities(workspace_id, EntityFilter(min_mentions=2))
        assert [(one.name, one.mentions, one.aliases) for one in listed] == [
            (AUTH, 4, ["auth service"]),
            (USERS, 2, []),
        ]
        assert [one.how for one in await store.find(workspace_id, "auth_service", 5)] == ["exact"]
        auth = identity(AUTH)[0]
        outgoing = 1 + (auth < identity(USERS)[0])
        assert await store.degrees(workspace_id, [auth]) == {auth: (outgoing, 2 - outgoing)}
        # Linking, hops and bridges find the old names, and the chunks about them.
        bridging = Bridging(Gazetteers(Generations(database, "")))
        linked, _ = await bridging.linked(workspace_id, "What does the AuthService need?", [])
        seeds = entities(linked)
        assert [one.name for one in seeds] == [AUTH]
        chunks = await expand(store, workspace_id, seeds, 1, 2, 10)
        assert {(one.document_id, one.chunk_id, one.hop) for one in chunks} == {
            (document, f"c{number}", 0) for number, document in enumerate(documents)
        }
        stated = await store.evidence(workspace_id, auth, identity(USERS)[0], "DEPENDS_ON", 5)
        assert {(one.document_id, one.method) for one in stated} == {(one, "pattern") for one in documents}
        told = await analyze_dependencies(store, workspace_id, AnalyzeDependencies(entity=USERS))
        assert [one.name for one in told.depended_by] == [AUTH]
        async with database.workspace(workspace_id) as connection:
            about = await connection.execute("SELECT about, count(*) FROM mention GROUP BY about ORDER BY about")
            # An entity's name is not a title or file name; those belonged to documents.
            assert await about.fetchall() == [("heading", 2), (None, 4)]
            queued = await connection.execute("SELECT kind, id, receipt FROM projection_queue ORDER BY sequence")
            assert await queued.fetchall() == [
                ("workspace", "", None),
                ("document", str(gone), {"mentions": 3}),
            ]


async def test_a_republished_document_is_processed_like_a_new_one(old, make_database):
    urls, upgrade = old
    workspace_id = uuid4()
    first, second, _ = fill(urls.admin, workspace_id)
    upgrade()
    document = SourceDocument("auth.md", None, False, (SourceChunk("c0", TEXT),))
    made = MadeFrom(2, "auth.md", None, "en", "key", "digest")
    graphed = Graphed(first, made, 1, extract(document, None))
    seen = []
    for url in (urls.service, make_database("knowledge_graph").service):
        async with Database(url, 2).opened() as database:
            async with database.workspace(workspace_id) as connection:
                await GraphProvenance(connection, workspace_id).lock()
                await GraphProvenance(connection, workspace_id).replace(graphed)
                await GraphProvenance(connection, workspace_id).delete(second)
            assert not await wrong_sums(database, workspace_id)
            store = PostgresStore(database)
            seen.append((await store.list_entities(workspace_id, EntityFilter()), await store.counts(workspace_id)))
    assert seen[0] == seen[1]
