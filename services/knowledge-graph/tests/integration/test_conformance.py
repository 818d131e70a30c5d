"""One suite for every graph store: on small random graphs each answers as the provenance says."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from uuid import UUID, uuid4

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from knowledge_graph.extraction.names import entity_id, name_key
from knowledge_graph.extraction.records import Extraction, Mention, RelationEvidence
from knowledge_graph.graph_store import Bounds, EntityFilter, GraphStore, StoredRelation, SubgraphBounds
from knowledge_graph.neo4j.connection import Neo4jConnection
from knowledge_graph.neo4j.maintenance import differences, rebuild
from knowledge_graph.neo4j.projection import Neo4jProjection
from knowledge_graph.neo4j.store import Neo4jStore, ReadCypher
from knowledge_graph.projection.projector import Projector
from knowledge_graph.projection.queue import queue
from knowledge_graph.projection.state import GraphState, ProjectedEntity
from knowledge_graph.recording.provenance import Graphed, GraphProvenance, MadeFrom
from knowledge_graph.settings import Neo4jSettings
from knowledge_graph.store.postgres import PostgresStore
from service_kit.outbox import Outbox
from service_kit.postgres import Database

NAMES = ["AuthService", "UserDB", "Billing", "O'Hara", "'}) DETACH DELETE n //", "Ångström", "billing2", "💥x"]
TYPES = ["CO_OCCURS", "USES", "CALLS"]
PLACES = st.integers(0, len(NAMES) - 1)
MENTIONS = st.lists(st.tuples(PLACES, st.integers(0, 2)), min_size=1, max_size=8)
LINKS = st.lists(st.tuples(PLACES, PLACES, st.sampled_from(TYPES)), max_size=10)
DOCUMENTS = st.lists(st.tuples(MENTIONS, LINKS), min_size=1, max_size=4)


@dataclass
class Stores:
    database: Database
    under_test: GraphStore
    neo4j: Neo4jConnection | None
    workspaces: set[UUID] = field(default_factory=set)

    async def write(self, workspace_id: UUID, documents: dict[UUID, Extraction], deleted: list[UUID]) -> None:
        self.workspaces.add(workspace_id)
        async with self.database.workspace(workspace_id) as connection:
            for document, extraction in documents.items():
                source = MadeFrom(1, "x", None, "en", "chunks", "digest")
                graphed = Graphed(document, source, 3, extraction)
                changes = await GraphProvenance(connection, workspace_id).replace(graphed)
                await queue(connection, workspace_id, changes, projects=True)
        await self.project()
        async with self.database.workspace(workspace_id) as connection:
            for document in deleted:
                changes, _ = await GraphProvenance(connection, workspace_id).delete(document)
                await queue(connection, workspace_id, changes, projects=True)
        await self.project()

    async def project(self) -> None:
        if self.neo4j is not None:
            projector = Projector(self.database, Neo4jProjection(self.neo4j), Outbox("test"))
            while await projector.project_batch():
                pass


@pytest.fixture(params=["postgres", pytest.param("neo4j", marks=pytest.mark.neo4j)])
async def stores(request, make_database):
    neo4j = None
    if request.param == "neo4j":
        url, user, password = request.getfixturevalue("neo4j_url")
        neo4j = Neo4jConnection(Neo4jSettings(neo4j_url=url, neo4j_user=user, neo4j_password=SecretStr(password)))
    async with Database(make_database("knowledge_graph").service, 3).opened() as database:
        if neo4j is not None:
            await Neo4jProjection(neo4j).prepare()
        yield Stores(database, Neo4jStore(neo4j, PostgresStore(database)) if neo4j else PostgresStore(database), neo4j)
    if neo4j is not None:
        await neo4j.aclose()


def extraction(document: UUID, mentions, links) -> Extraction:
    """Returns an extraction; links are kept only between entities that the document mentions, as extraction does."""
    known = {place for place, _ in mentions}
    ids = [entity_id(name_key(name)) for name in NAMES]
    return Extraction(
        "patterns",
        [
            Mention(ids[place], name_key(NAMES[place]), NAMES[place], "ENTITY", f"{document.hex[:8]}{chunk}", 0, 1)
            for place, chunk in mentions
        ],
        [
            RelationEvidence(
                *(sorted((ids[a], ids[b])) if kind == "CO_OCCURS" else (ids[a], ids[b])),
                kind,
                1.0 if kind == "CO_OCCURS" else 2.0,
                0.5,
                f"{document.hex[:8]}0",
                0,
                1,
            )
            for a, b, kind in links
            if a != b and {a, b} <= known
        ],
    )


async def test_a_store_answers_according_to_the_provenance(stores):
    loop = asyncio.get_running_loop()

    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
    @given(drawn=DOCUMENTS, deletes=st.integers(0, 2))
    def check(drawn, deletes):
        asyncio.run_coroutine_threadsafe(_check(stores, drawn, deletes), loop).result(120)

    await asyncio.to_thread(check)
    if stores.neo4j is not None:
        found = await differences(stores.database, stores.neo4j)
        # The server still has data that other tests wrote for their own databases.
        assert found.keys().isdisjoint(stores.workspaces)


async def _check(stores: Stores, drawn, deletes: int) -> None:
    workspace_id = uuid4()
    documents = {uuid4(): one for one in drawn}
    built = {document: extraction(document, *one) for document, one in documents.items()}
    deleted = list(built)[:deletes]
    await stores.write(workspace_id, built, deleted)
    left = [one for document, one in built.items() if document not in deleted]
    store = stores.under_test

    mentions = Counter(one.entity_id for each in left for one in each.mentions)
    weights: Counter[tuple[str, str, str]] = Counter()
    for one in (one for each in left for one in each.relations):
        weights[one.source_id, one.target_id, one.relation_type] += one.weight

    listed = await store.list_entities(workspace_id, EntityFilter(limit=50))
    assert [(one.id, one.mentions) for one in listed] == sorted(mentions.items(), key=lambda one: (-one[1], one[0]))
    statistics = await store.statistics(workspace_id)
    assert (statistics.entities, statistics.relations, statistics.documents) == (len(mentions), len(weights), len(left))
    for entity in listed:
        found = await store.relations_of(workspace_id, entity.id, 50)
        mine = {key: weight for key, weight in weights.items() if entity.id in key[:2]}
        expected = sorted((-weight, *key) for key, weight in mine.items())
        assert [(-one.weight, one.source_id, one.target_id, one.relation_type) for one in found] == expected
        nearest: dict[str, float] = {}
        for mine_at, other_at in ((0, 1), (1, 0)):
            towards = [(-weight, key[other_at], key[2]) for key, weight in mine.items() if key[mine_at] == entity.id]
            for negative, other, _ in sorted(towards)[:2]:
                nearest[other] = max(-negative, nearest.get(other, 0))
        near = await store.neighbours(workspace_id, [entity.id], 2)
        ranked = sorted(nearest.items(), key=lambda one: (-one[1], one[0]))[:2]
        assert [(one.id, one.weight, one.mentions) for one in near] == [(a, w, mentions[a]) for a, w in ranked]
        chunks = Counter(one.chunk_id for each in left for one in each.mentions if one.entity_id == entity.id)
        shown = await store.chunks_of(workspace_id, [entity.id], 2)
        assert [(one.chunk_id, one.mentions) for one in shown] == sorted(chunks.items(), key=lambda o: (-o[1], o[0]))[
            :2
        ]
    await _check_searches(stores, workspace_id, mentions, weights)
    assert await store.list_entities(uuid4(), EntityFilter()) == []
    if listed:
        last = listed[0]
        following = await store.list_entities(workspace_id, EntityFilter(after=(last.mentions, last.id), limit=3))
        assert following == listed[1:4]
        by_prefix = await store.list_entities(
            workspace_id, EntityFilter(prefix=last.name_key[:2], entity_type="ENTITY")
        )
        assert by_prefix == [one for one in listed if one.name_key.startswith(last.name_key[:2])]
        assert await store.list_entities(workspace_id, EntityFilter(entity_type="nothing")) == []


async def _check_searches(
    stores: Stores, workspace_id: UUID, mentions: Counter[str], weights: Counter[tuple[str, str, str]]
) -> None:
    store, truth = stores.under_test, PostgresStore(stores.database)
    ids = sorted(mentions)
    linked = nx.Graph()
    linked.add_nodes_from(ids)
    linked.add_edges_from((source, target) for source, target, _ in weights)
    degrees = {one: (sum(key[0] == one for key in weights), sum(key[1] == one for key in weights)) for one in ids}
    assert await store.degrees(workspace_id, [*ids, "unknown"]) == degrees
    for measure in ("mentions", "documents", "degree"):
        found = await store.top(workspace_id, measure, None, 5)
        assert found == await truth.top(workspace_id, measure, None, 5)
    ranked = sorted((-sum(degrees[one]), one) for one in ids)[:5]
    assert [(-one.score, one.entity.id) for one in found] == ranked
    assert [one.score * max(1, len(weights)) for one in await store.centrality(workspace_id, 5)] == pytest.approx(
        [-score for score, _ in ranked]
    )
    counts = await store.counts(workspace_id)
    assert counts == await truth.counts(workspace_id)
    assert counts.by_relation_type == Counter(kind for _, _, kind in weights)
    assert counts.average_mentions == pytest.approx(mentions.total() / max(1, len(mentions)), abs=0.001)
    for source in ids[:3]:
        for target in ids[-3:]:
            await _check_paths(store, workspace_id, linked, source, target)
        for direction in ("out", "in"):
            await _check_closure(store, workspace_id, weights, source, direction)
        found_cycles = await store.cycles(workspace_id, source, ["USES", "CALLS"], 10)
        assert found_cycles == await truth.cycles(workspace_id, source, ["USES", "CALLS"], 10)
        stated = {key[:2] for key in weights if key[2] != "CO_OCCURS"}
        for cycle in found_cycles:
            assert all(pair in stated for pair in pairwise([*cycle, source]))
    bounds = Bounds(fan_out=3, widest=4, min_mentions=1)
    reached = await store.reach(workspace_id, ids[:2], 2, bounds)
    assert reached == await truth.reach(workspace_id, ids[:2], 2, bounds)
    assert {one.id for one in reached if one.hop == 0} == set(ids[:2])
    around = SubgraphBounds(max_nodes=4, max_edges=5, relation_types=("USES", "CO_OCCURS"))
    for wanted in (ids[:1], None):
        picture = await store.subgraph(workspace_id, wanted, 2, around)
        assert picture == await truth.subgraph(workspace_id, wanted, 2, around)
        assert {end for one in picture.relations for end in (one.source_id, one.target_id)} <= {
            one.id for one in picture.nodes
        }
    few = await store.neighbours(workspace_id, ids, 3, min_mentions=2, min_weight=2.0, relation_types=["USES"])
    assert few == await truth.neighbours(workspace_id, ids, 3, 2, 2.0, ["USES"])
    frequent = EntityFilter(min_mentions=2)
    assert [one.id for one in await store.list_entities(workspace_id, frequent)] == [
        one for one, number in sorted(mentions.items(), key=lambda each: (-each[1], each[0])) if number > 1
    ]
    for name in NAMES:
        (best, *_) = await store.find(workspace_id, name.upper(), 5) or [None]
        if entity_id(name_key(name)) in mentions:
            assert best is not None
            assert (best.how, best.entity.id) == ("exact", entity_id(name_key(name)))


async def _check_paths(store: GraphStore, workspace_id: UUID, linked: nx.Graph, source: str, target: str) -> None:
    found = await store.shortest_paths(workspace_id, source, target, 6, 5)
    if not nx.has_path(linked, source, target):
        assert found == []
        return
    expected = sorted(nx.all_shortest_paths(linked, source, target))[:5]
    assert [path.entities for path in found] == (expected if len(expected[0]) <= 7 else [])
    for path in found:
        steps = [{relation.source_id, relation.target_id} for relation in path.relations]
        assert steps == [set(pair) for pair in pairwise(path.entities)]


async def _check_closure(store: GraphStore, workspace_id: UUID, weights, source: str, direction) -> None:
    directed = nx.DiGraph([key[:2] for key in weights if key[2] == "USES"])
    directed.add_node(source)
    graph = directed if direction == "out" else directed.reverse()
    depths = nx.single_source_shortest_path_length(graph, source, cutoff=10)
    found = await store.closure(workspace_id, source, direction, ["USES"], 10, 100)
    assert [(one.depth, one.id) for one in found] == sorted((depth, one) for one, depth in depths.items() if depth)
    for one in found:
        before = [each for each in graph.predecessors(one.id) if depths.get(each) == one.depth - 1]
        assert one.via == min(before)


@pytest.mark.neo4j
async def test_rebuild_repairs_what_verify_finds(make_database, neo4j_url):
    url, user, password = neo4j_url
    neo4j = Neo4jConnection(Neo4jSettings(neo4j_url=url, neo4j_user=user, neo4j_password=SecretStr(password)))
    async with Database(make_database("knowledge_graph").service, 4).opened() as database:
        stores = Stores(database, Neo4jStore(neo4j, PostgresStore(database)), neo4j)
        workspace_id, document = uuid4(), uuid4()
        built = {document: extraction(document, [(0, 0), (1, 0), (2, 1)], [(0, 1, "USES")])}
        await Neo4jProjection(neo4j).prepare()
        await stores.write(workspace_id, built, [])
        assert workspace_id not in await differences(database, neo4j)
        await neo4j.statement("MATCH (e:Entity {workspace_id: $w}) WITH e LIMIT 1 DETACH DELETE e", w=str(workspace_id))
        assert "counts" in (await differences(database, neo4j))[workspace_id]
        await rebuild(database, neo4j, workspace_id)
        assert workspace_id not in await differences(database, neo4j)
    await neo4j.aclose()


@pytest.mark.neo4j
async def test_the_neighbours_of_a_hub_cost_neo4j_what_is_returned_and_not_what_the_hub_has(neo4j_url):
    url, user, password = neo4j_url
    neo4j = Neo4jConnection(Neo4jSettings(neo4j_url=url, neo4j_user=user, neo4j_password=SecretStr(password)))
    projection, workspace_id, ids = Neo4jProjection(neo4j), uuid4(), [f"{number:04}" for number in range(1_000)]

    async def pages():
        yield GraphState(entities=[ProjectedEntity(one, one, one, "ENTITY", 1, 1, [], 0, 0) for one in ids])
        yield GraphState(relations=[StoredRelation(ids[0], one, "USES", float(one) % 7, 1) for one in ids[1:]])

    await projection.prepare()
    await neo4j.statement("CALL db.awaitIndexes(60)")
    await projection.rebuild(workspace_id, 1, pages())
    values = {"ids": ids[:1], "fan_out": 5, "min_mentions": 1, "min_weight": 0.0, "types": None}
    values |= {"workspace_id": str(workspace_id)}
    answer = await neo4j.driver.execute_query(f"PROFILE {ReadCypher.neighbours}", values)
    await projection.delete_workspace(workspace_id)
    await neo4j.aclose()
    assert [one for _, one, *_ in answer.records[0]["rows"]] == [ids[number] for number in (6, 13, 20, 27, 34)]
    assert store_reads(answer.summary.profile) < 100


def store_reads(profile) -> int:
    """Returns how often a plan and what it is made of read the store."""
    return profile["dbHits"] + sum(store_reads(one) for one in profile.get("children", []))
