"""The graph depends only on the documents: in any order of arrivals, changes and deletions, however many."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import aclosing
from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from knowledge_graph.extraction.names import entity_id, name_key
from knowledge_graph.extraction.records import Alias, Candidate, Extraction, Mention, RelationEvidence
from knowledge_graph.neo4j.connection import Neo4jConnection
from knowledge_graph.neo4j.maintenance import differences
from knowledge_graph.neo4j.projection import Neo4jProjection
from knowledge_graph.projection.projector import Projector
from knowledge_graph.projection.queue import queue
from knowledge_graph.recording import names
from knowledge_graph.recording.names import resolve
from knowledge_graph.recording.provenance import Graphed, GraphProvenance, MadeFrom
from knowledge_graph.settings import Neo4jSettings
from knowledge_graph.store.postgres import PostgresStore
from service_kit.outbox import Outbox
from service_kit.postgres import Database

NAMES = ["SSO", "Single Sign-On", "New York", "New York City", "York", "Lothair II", "l'O'Hara \"x\" 💥 \u202eRTL"]
STATE = {
    "entity": "SELECT id, name_key, name, entity_type, own_type, mentions, documents, aliases, outgoing, incoming "
    "FROM entity",
    "relation": "SELECT source_id, target_id, relation_type, weight, evidence FROM relation",
    "mention": "SELECT document_id, number, entity_id, name_id, chunk_id, surface, origin, about FROM mention",
    "relation_evidence": "SELECT document_id, number, source_id, target_id, source_name_id FROM relation_evidence",
    "alias_evidence": "SELECT document_id, number, alias_id, target_id FROM alias_evidence",
    "name": "SELECT id, name_key, entity_id, own, evidence, is_known, chunks, is_widespread FROM name",
    "surface": "SELECT entity_id, surface, entity_type, surface_key, uses, stated FROM surface",
    "candidates": "SELECT document_id, first_number, chunk_id, surfaces FROM candidates",
}
TYPES = ["SERVICE", "PERSON", "GPE", "STORE", "ENTITY"]
PLACES = st.integers(0, len(NAMES) - 1)
CHUNKS = st.integers(0, 1)
DOCUMENT = st.tuples(
    st.lists(st.tuples(PLACES, CHUNKS), max_size=5),
    st.lists(st.tuples(PLACES, PLACES, st.sampled_from(["CO_OCCURS", "USES"])), max_size=4),
    st.lists(st.tuples(PLACES, PLACES), max_size=2),
    st.lists(st.tuples(PLACES, CHUNKS, st.integers(0, 3)), max_size=5, unique=True),
)
STEPS = st.lists(st.tuples(st.integers(0, 3), st.one_of(st.none(), DOCUMENT)), min_size=1, max_size=8)


def identified(place: int) -> tuple[str, str]:
    key = name_key(NAMES[place])
    return entity_id(key), key


def built(document: UUID, drawn) -> Extraction:
    mentions, relations, aliases, candidates = drawn
    mentioned = {place for place, _ in mentions}

    def chunk(number: int) -> str:
        return f"{document.hex[-8:]}{number}"

    def ends(a: int, b: int, kind: str) -> list[str]:
        pair = [identified(a)[0], identified(b)[0]]
        return sorted(pair) if kind == "CO_OCCURS" else pair

    return Extraction(
        "patterns",
        [
            Mention(
                *identified(place),
                NAMES[place],
                TYPES[(place + document.int) % len(TYPES)],  # the documents contradict each other
                chunk(number),
                0,
                5,
                "title" if number else None,
                states_type=(place + document.int) % 3 == 0,
            )
            for place, number in mentions
        ],
        [
            RelationEvidence(*ends(a, b, kind), kind, 1.0 if kind == "CO_OCCURS" else 0.1, 0.5, chunk(0), 0, 5)
            for a, b, kind in relations
            if a != b and {a, b} <= mentioned
        ],
        [Alias(*identified(a), NAMES[a], *identified(b), NAMES[b], chunk(0), 0, 5, "stated") for a, b in aliases],
        [
            Candidate(identified(place)[0], NAMES[place], chunk(number), start, start + len(NAMES[place]), 0, 30)
            for place, number, start in candidates
        ],
    )


@pytest.fixture
async def database(make_database):
    async with Database(make_database("knowledge_graph").service, 3).opened() as database:
        yield database


async def write(database: Database, workspace_id: UUID, document: UUID, extraction: Extraction | None) -> None:
    """Records the document; None deletes it."""
    async with database.workspace(workspace_id) as connection:
        await GraphProvenance(connection, workspace_id).lock()
        if extraction is None:
            changes, _ = await GraphProvenance(connection, workspace_id).delete(document)
        else:
            source = MadeFrom(1, "x", None, "en", "chunks", "digest")
            graphed = Graphed(document, source, 2, extraction)
            changes = await GraphProvenance(connection, workspace_id).replace(graphed)
        await queue(connection, workspace_id, changes, projects=True)


async def write_together(database: Database, workspace_id: UUID, extractions: dict[UUID, Extraction]) -> None:
    """Records several documents in one go."""
    source = MadeFrom(1, "x", None, "en", "chunks", "digest")
    async with database.workspace(workspace_id) as connection:
        await GraphProvenance(connection, workspace_id).lock()
        graphed = [Graphed(document, source, 2, extraction) for document, extraction in extractions.items()]
        changes = await GraphProvenance(connection, workspace_id).replace_all(graphed)
        await queue(connection, workspace_id, changes, projects=True)


async def delete(database: Database, workspace_id: UUID, documents: list[UUID]) -> dict[UUID, dict[str, int]]:
    """Deletes documents together; returns the counts of what was removed."""
    async with database.workspace(workspace_id) as connection:
        await GraphProvenance(connection, workspace_id).lock()
        _, removed = await GraphProvenance(connection, workspace_id).delete_all(documents)
        return removed


async def state(database: Database, workspace_id: UUID) -> dict[str, list[tuple]]:
    found = {}
    async with database.workspace(workspace_id) as connection:
        for table, query in STATE.items():
            rows = await (await connection.execute(query)).fetchall()
            found[table] = sorted(rows, key=repr)
    return found


def in_a_loop(check):
    """Returns a function that Hypothesis can call from a thread, and that runs the check in the loop."""
    loop = asyncio.get_running_loop()

    def call(*drawn):
        asyncio.run_coroutine_threadsafe(check(*drawn), loop).result(120)

    return call


EMPTY = ([], [], [], [])


@pytest.mark.parametrize("most_chunks", [1, 1_000])
async def test_any_order_of_changes_and_deletions_equals_a_fresh_build(database, monkeypatch, most_chunks):
    monkeypatch.setattr(names, "MOST_CHUNKS", most_chunks)

    async def check(steps):
        documents = [UUID(int=number + 1) for number in range(4)]
        changed, fresh = uuid4(), uuid4()
        last = {}
        for number, drawn in steps:
            document = documents[number]
            last[document] = None if drawn is None else built(document, drawn)
            await write(database, changed, document, last[document])
        for document, extraction in sorted(last.items(), reverse=True):
            if extraction is not None:
                await write(database, fresh, document, extraction)
        left = await state(database, changed)
        assert left == await state(database, fresh)
        _check_known(left, most_chunks)
        for document, extraction in last.items():
            if extraction is not None:
                await write(database, changed, document, extraction)
        assert await state(database, changed) == left
        together = documents[:2]
        held = sum(row[0] in together for row in left["mention"])
        removed = await delete(database, changed, together)
        assert sum(one["mentions"] for one in removed.values()) == held
        for document in together:
            await delete(database, fresh, [document])
        assert await state(database, changed) == await state(database, fresh)
        for document in documents[2:]:
            await write(database, changed, document, None)
        assert not any((await state(database, changed)).values())

    call = in_a_loop(check)

    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
    @given(steps=STEPS)
    @example(steps=[(0, ([(0, 0)], [], [], [])), (1, ([(1, 0)], [], [(0, 1)], []))])
    @example(steps=[(0, ([], [], [], [(2, 0, 0), (3, 0, 0), (4, 0, 1)])), (1, ([(2, 0), (3, 1)], [], [], []))])
    @example(steps=[(0, ([(0, 0), (1, 0)], [(0, 1, "USES")], [(0, 1), (1, 0)], [])), (0, None)])
    def run(steps):
        call(steps)

    await asyncio.to_thread(run)


@pytest.mark.parametrize("most_chunks", [1, 1_000])
async def test_documents_graphed_together_give_the_graph_of_one_after_the_other(database, monkeypatch, most_chunks):
    monkeypatch.setattr(names, "MOST_CHUNKS", most_chunks)

    async def check(steps):
        versions = defaultdict[UUID, list[Extraction]](list)
        for number, drawn in steps:
            document = UUID(int=number + 1)
            versions[document].append(built(document, drawn or EMPTY))
        alone, together = uuid4(), uuid4()
        # First versions, then newest ones in place of them.
        for place in (0, -1):
            await write_together(database, together, {one: made[place] for one, made in versions.items()})
            for document, made in versions.items():
                await write(database, alone, document, made[place])
            assert await state(database, together) == await state(database, alone)

    call = in_a_loop(check)

    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
    @given(steps=STEPS.filter(bool))
    @example(steps=[(0, ([(0, 0)], [], [], [])), (1, ([(1, 0)], [], [(0, 1)], []))])
    @example(steps=[(0, ([], [], [], [(2, 0, 0), (3, 0, 0), (4, 0, 1)])), (1, ([(2, 0), (3, 1)], [], [], []))])
    @example(
        steps=[(0, ([(0, 0), (1, 0)], [(0, 1, "USES")], [(0, 1), (1, 0)], [])), (1, ([(0, 0)], [], [], [])), (0, None)]
    )
    def run(steps):
        call(steps)

    await asyncio.to_thread(run)


def _check_known(found: dict[str, list[tuple]], most_chunks: int) -> None:
    """Checks that exactly the candidates of known names are mentions, unless they lie in a longer one."""
    known = {row[0] for row in found["name"] if row[5] and not row[7]}
    alive = {row[2] for row in found["name"] if row[3] > 0}
    assert {row[0] for row in found["name"] if row[5]} == {row[0] for row in found["name"] if row[2] in alive}
    assert {row[0] for row in found["entity"]} == alive
    assert all(row[6] <= most_chunks for row in found["name"] if not row[7])
    assert {row[3] for row in found["mention"] if row[6] == "known"} <= known
    chunks = {(row[0], row[2]): row[3] for row in found["candidates"]}
    for document, _, _, name_id, chunk, surface, origin, _ in found["mention"]:
        if origin == "known":
            assert surface in chunks[document, chunk]
            assert entity_id(name_key(surface)) == name_id


async def test_an_alias_is_merged_only_while_it_is_unambiguous(database):
    workspace_id, alone, says, denies = uuid4(), uuid4(), uuid4(), uuid4()
    store = PostgresStore(database)
    sso, sign_on = identified(0)[0], identified(1)[0]
    await write(database, workspace_id, alone, built(alone, ([(0, 0)], [], [], [])))
    await write(database, workspace_id, says, built(says, ([(1, 0)], [], [(0, 1)], [])))
    (entity,) = await store.entities(workspace_id, [sso, sign_on])
    assert (entity.id, entity.name, entity.aliases, entity.documents) == (sign_on, "Single Sign-On", ["SSO"], 2)
    (match,) = await store.find(workspace_id, "sso", 5)
    assert (match.how, match.entity.id) == ("alias", sign_on)
    await write(database, workspace_id, denies, built(denies, ([(5, 0)], [], [(0, 5)], [])))
    assert {one.id for one in await store.entities(workspace_id, [sso, sign_on])} == {sso, sign_on}
    await write(database, workspace_id, denies, None)
    assert [one.id for one in await store.entities(workspace_id, [sso, sign_on])] == [sign_on]
    await write(database, workspace_id, says, None)
    assert [one.name for one in await store.entities(workspace_id, [sso, sign_on])] == ["SSO"]


async def test_a_name_learned_later_is_found_in_earlier_chunks(database):
    workspace_id, early, late = uuid4(), uuid4(), uuid4()
    store, york = PostgresStore(database), identified(2)[0]
    await write(database, workspace_id, early, built(early, ([], [], [], [(2, 0, 0), (4, 0, 4), (3, 1, 0)])))
    assert await store.entities(workspace_id, [york]) == []
    await write(database, workspace_id, late, built(late, ([(2, 0), (4, 0)], [], [], [])))
    chunks = {one.chunk_id for one in await store.chunks_of(workspace_id, [york], 10)}
    assert chunks == {f"{early.hex[-8:]}0", f"{late.hex[-8:]}0"}
    inside = {one.chunk_id for one in await store.chunks_of(workspace_id, [identified(4)[0]], 10)}
    assert inside == {f"{late.hex[-8:]}0"}
    await write(database, workspace_id, late, None)
    assert await store.entities(workspace_id, [york]) == []
    assert (await state(database, workspace_id))["mention"] == []


async def test_workspaces_do_not_share_names(database):
    here, there, document = uuid4(), uuid4(), UUID(int=7)
    extraction = built(document, ([(0, 0)], [], [], [(2, 0, 0)]))
    await write(database, here, document, extraction)
    await write(database, there, document, replace(extraction, mentions=[], candidates=[]))
    names = built(document, ([(2, 1)], [], [(0, 2)], []))
    await write(database, there, uuid4(), names)
    assert [row[1] for row in (await state(database, here))["entity"]] == ["sso"]
    assert await PostgresStore(database).find(there, "SSO", 5) != []
    assert [one.entity.name for one in await PostgresStore(database).find(here, "ss0o", 5)] == []


def test_chains_of_aliases_are_followed_and_cycles_resolve_to_one_name():
    edges = {"b": "a", "c": "b", "x": "y", "y": "z", "z": "x", "w": "x"}
    assert {name: resolve(name, edges) for name in "abcxyzw"} == {
        "a": "a", "b": "a", "c": "a", "x": "x", "y": "x", "z": "x", "w": "x"
    }  # fmt: skip


@pytest.mark.neo4j
async def test_neo4j_follows_merges_and_newly_learned_names(database, neo4j_url):
    url, user, password = neo4j_url
    address = Neo4jSettings(neo4j_url=url, neo4j_user=user, neo4j_password=SecretStr(password))
    uses = ([(0, 0), (5, 0)], [(0, 5, "USES"), (0, 5, "CO_OCCURS")], [], [(2, 0, 0), (3, 1, 0), (4, 1, 4)])
    steps = [(1, uses), (2, ([(1, 0)], [], [(0, 1)], [])), (3, ([(2, 0), (4, 0)], [], [], [])), (3, EMPTY), (2, None)]
    async with aclosing(Neo4jConnection(address)) as neo4j:
        projection, workspace_id = Neo4jProjection(neo4j), uuid4()
        projector = Projector(database, projection, Outbox("test"))
        await projection.prepare()
        for number, drawn in steps:
            document = UUID(int=number)
            await write(database, workspace_id, document, None if drawn is None else built(document, drawn))
            while await projector.project_batch():
                pass
            assert workspace_id not in await differences(database, neo4j)
