"""Latency of expansion, searches and tools in large graphs, and CPU time of server and client; also in Neo4j if
NEO4J_URL is set: then each question goes to both stores in turn, so that both find the machine equally busy.

BENCH_ENTITIES picks sizes by their number of entities (20000 200000), BENCH_QUESTIONS (60) is how often each is asked.
For Neo4j also its reads of the store (`PROFILE`, database hits), the mean of PROFILED questions. `Asked plainly` is
what no tool asks: without bounds, in the store's own language.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import os
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID, uuid4

import psutil
import psycopg
from benchmarks.figures import Row, spread
from neo4j import Query
from neo4j.exceptions import Neo4jError
from psycopg.errors import QueryCanceled
from pydantic import SecretStr

from contracts.graph_expansion import ExpandRequest, GraphMethod
from contracts.graph_tools import AnalyzeDependencies, LookupFacts, Neighbours, RunCalculation, ShortestPath
from contracts.ingestion import Chunk
from embedded.engines import Engines
from knowledge_graph.errors import StoreUnavailable
from knowledge_graph.expansion.bridging import Bridging
from knowledge_graph.expansion.gazetteer import Gazetteers
from knowledge_graph.expansion.hops import expand
from knowledge_graph.extraction.names import entity_id
from knowledge_graph.graph_store import EntityFilter, GraphStore, SubgraphBounds
from knowledge_graph.neo4j.connection import READ_SECONDS, Neo4jConnection
from knowledge_graph.neo4j.maintenance import rebuild
from knowledge_graph.neo4j.projection import Neo4jProjection
from knowledge_graph.neo4j.store import Neo4jStore
from knowledge_graph.recording.generation import Generations
from knowledge_graph.settings import Neo4jSettings
from knowledge_graph.store.postgres import PostgresStore
from knowledge_graph.tools.calculation import run_calculation
from knowledge_graph.tools.chunks import ChunkTexts
from knowledge_graph.tools.dependencies import analyze_dependencies
from knowledge_graph.tools.facts import lookup_facts
from knowledge_graph.tools.paths import neighbours, shortest_path
from service_kit.migrate import migrate
from service_kit.objects import ObjectStore
from service_kit.postgres import Database
from service_kit.settings import ObjectStoreSettings

SIZES = ((20_000, 100_000, 200_000), (200_000, 1_000_000, 2_000_000))
HUB_RELATIONS = 50_000
QUESTIONS, LIMIT = int(os.environ.get("BENCH_QUESTIONS", "60")), 50
WARM_UP, PROFILED, OF_A_DOCUMENT = 20, 5, 30
Question = tuple[Callable[[], Awaitable[object]], str]
EVERYTHING = "asked plainly: how many entities can be reached from one, over any number of steps"
EVERYTHING_IN_SQL = """
    WITH RECURSIVE reached (id) AS (
        SELECT %(id)s::text COLLATE "C"
        UNION
        SELECT relation.target_id FROM reached
        INNER JOIN relation ON relation.workspace_id = %(workspace_id)s AND relation.source_id = reached.id
    )
    SELECT count(*) FROM reached
"""
EVERYTHING_IN_CYPHER = """
    MATCH (:Entity {workspace_id: $workspace_id, id: $id})-[:RELATED*0..]->(o)
    RETURN [count(DISTINCT o)] AS rows
"""
FILL = Path(__file__).with_name("graph_speed.sql")


async def graph_speed() -> list[Row]:
    """Expands, searches and answers as the service does, without HTTP."""
    rows: list[Row] = []
    picked = os.environ.get("BENCH_ENTITIES", "").split()
    sizes = [size for size in SIZES if not picked or str(size[0]) in picked]
    with Engines.temporary() as engines:
        assert engines.postgres.child is not None
        servers = {"postgres": psutil.Process(engines.postgres.child.pid), "neo4j": _neo4j_server()}
        place = urlsplit(engines.admin_database_url)
        service = place._replace(netloc=f"attractor_knowledge_graph:benchmark@{place.hostname}:{place.port}")
        migrate(engines.admin_database_url, urlunsplit(service), "knowledge_graph", "knowledge_graph")
        # One connection, so one process does the server's work.
        async with Database(urlunsplit(service), 3).opened() as database:
            for entities, relations, mentions in sizes:
                workspace_id = uuid4()
                with psycopg.connect(engines.admin_database_url) as admin:
                    _fill(admin, workspace_id, entities, relations, mentions)
                    admin.commit()
                    admin.autocommit = True
                    admin.execute("VACUUM ANALYZE")
                objects = _objects(engines)
                await _write_texts(objects, mentions)
                title = f"{entities:,} entities, {relations:,} relations, {mentions:,} mentions"
                gc.collect()
                gc.freeze()  # as a service does once it has started
                of = _Graph(database, ChunkTexts(database, objects), workspace_id, entities)
                rows += await _rows(title, of, {"postgres": await of.bridges()}, servers)
                questions = {"postgres": await of.questions(PostgresStore(database)) | of.in_sql()}
                async with _shown(database, workspace_id) as (neo4j, seconds):
                    if neo4j is not None:
                        rows.append((f"{title}: rebuilt in Neo4j", f"{seconds:.0f} s", "minutes"))
                        questions["neo4j"] = await of.questions(neo4j) | of.in_cypher(neo4j.connection)
                    rows += await _rows(title, of, questions, servers)
    return rows


def _fill(admin: psycopg.Connection, workspace_id: UUID, entities: int, relations: int, mentions: int) -> None:
    """Fills the graph; a few entities take part in most relations, the first in up to 50,000."""
    admin.execute("SET search_path = knowledge_graph, public")
    for statement in FILL.read_text(encoding="utf-8").split(";"):
        values = {"workspace": workspace_id, "entities": entities, "relations": relations, "mentions": mentions}
        if statement.strip():
            admin.execute(statement, values | {"hub": min(HUB_RELATIONS, entities - 1)})  # type: ignore[arg-type]


def _objects(engines: Engines) -> ObjectStore:
    access = engines.object_store
    settings = ObjectStoreSettings(
        s3_endpoint=access.endpoint,
        s3_access_key=access.access_key,
        s3_secret_key=SecretStr(access.secret_key),
        s3_bucket="graph-speed",
    )
    return ObjectStore(settings)


async def _write_texts(objects: ObjectStore, mentions: int) -> None:
    """Writes the objects that `chunks_key` names, from which sentences are read."""
    await asyncio.to_thread(objects.ensure_bucket)
    for first in range(0, mentions // 12 + 1, 8 * OF_A_DOCUMENT):
        some = range(first, first + 8 * OF_A_DOCUMENT, OF_A_DOCUMENT)
        await asyncio.gather(*(_write_text(objects, number) for number in some))


async def _write_text(objects: ObjectStore, first: int) -> None:
    document_id = UUID(hashlib.md5(str(first // OF_A_DOCUMENT).encode(), usedforsecurity=False).hexdigest())
    chunks = [
        Chunk(
            chunk_id=f"c{number}", document_id=document_id, chunk_index=number, content="word " * 200, token_count=200
        )
        for number in range(first, first + OF_A_DOCUMENT)
    ]
    content = "\n".join(chunk.model_dump_json() for chunk in chunks).encode()
    await objects.aput(f"benchmark/{first // OF_A_DOCUMENT}.jsonl", content)


class _Graph:
    """The queries on one graph. Its entities are called "Name 0" and so on; the first is the largest hub."""

    def __init__(self, database: Database, passages: ChunkTexts, workspace_id: UUID, entities: int) -> None:
        self.database, self.passages, self.workspace_id, self.entities = database, passages, workspace_id, entities
        self.draw = random.Random(5)
        self.truth = PostgresStore(database)
        self.hubs: list[str] = []

    def anyone(self) -> str:
        return f"Name {self.draw.randrange(self.entities)}"

    def hub(self) -> str:
        return self.draw.choice(self.hubs)

    async def bridges(self) -> dict[str, Question]:
        """Queries bridges like a search: first chunks about the names, then chunks reached from the best of them."""
        gazetteers = Gazetteers(Generations(self.database, ""))
        bridging = Bridging(gazetteers)
        await gazetteers.fill(self.workspace_id)

        async def crossed(*names: str) -> None:
            query = f"What do {' and '.join(names)} have to do with each other?"
            for hops in (0, 2):
                request = ExpandRequest(query=query, method=GraphMethod.bridge, max_hops=hops, limit=LIMIT)
                assert (await bridging.expand(self.workspace_id, request)).entities

        await self._find_hubs()
        aim = "p95 50 ms" if self.entities <= 20_000 else ""
        return {
            "bridges, both questions, from 2 of its entities": (lambda: crossed(self.anyone(), self.anyone()), aim),
            "bridges, both questions, from 2 of its 50 hubs": (lambda: crossed(self.hub(), self.hub()), aim),
        }

    async def questions(self, store: GraphStore) -> dict[str, Question]:
        await self._find_hubs()
        workspace_id = self.workspace_id
        aim = "p95 50 ms" if self.entities <= 20_000 else ""

        async def expanded(names: list[str]) -> None:
            seeds = await store.entities(workspace_id, [_id(name) for name in names])
            assert await expand(store, workspace_id, seeds, 2, 1, LIMIT)

        async def told(name: str) -> None:
            await lookup_facts(store, self.truth, self.passages, workspace_id, LookupFacts(entity_name=name))

        async def depended(name: str) -> None:
            await analyze_dependencies(store, workspace_id, AnalyzeDependencies(entity=name))

        async def calculated(query: str) -> None:
            await run_calculation(store, workspace_id, RunCalculation(query=query))

        async def linked(source: str, target: str, types: list[str] | None = None, longest: int = 4) -> None:
            asked = ShortestPath(source=source, target=target, relation_types=types, max_length=longest)
            await shortest_path(store, workspace_id, asked)

        async def near(name: str) -> None:
            await neighbours(store, workspace_id, Neighbours(entity=name))

        async def page(entity: str) -> None:
            ends = await store.relations_of(workspace_id, entity, 100)
            await store.entities(workspace_id, sorted({one.target_id for one in ends}))
            await store.chunks_of(workspace_id, [entity], 100)

        return {
            "two hops from 3 of its entities": (lambda: expanded([self.anyone() for _ in range(3)]), aim),
            "two hops from 3 of its 50 hubs": (lambda: expanded(self.draw.sample(self.hubs, 3)), aim),
            "two hops from its largest hub": (lambda: expanded(self.hubs[:1]), aim),
            "closure of a hub, depth 3": (
                lambda: store.closure(workspace_id, _id(self.hub()), "out", ["USES"], 3, 200),
                "",
            ),
            "closure of an entity, depth 10": (
                lambda: store.closure(workspace_id, _id(self.anyone()), "in", ["DEPENDS_ON"], 10, 1_000),
                "",
            ),
            "cycles through a hub": (lambda: store.cycles(workspace_id, _id(self.hub()), ["DEPENDS_ON"], 10), ""),
            "neighbours of a hub": (lambda: near(self.hub()), ""),
            "picture around a hub": (
                lambda: store.subgraph(workspace_id, [_id(self.hub())], 2, SubgraphBounds()),
                "",
            ),
            "lookup_facts of an entity": (lambda: told(self.anyone()), ""),
            "lookup_facts of a hub": (lambda: told(self.hub()), ""),
            "analyze_dependencies of an entity": (lambda: depended(self.anyone()), ""),
            "analyze_dependencies of a hub": (lambda: depended(self.hub()), ""),
            "shortest_path between two entities": (lambda: linked(self.anyone(), self.anyone()), ""),
            "shortest_path between two hubs": (lambda: linked(self.hub(), self.hub()), ""),
            "shortest_path between two entities, DEPENDS_ON, up to 6": (
                lambda: linked(self.anyone(), self.anyone(), ["DEPENDS_ON"], 6),
                "",
            ),
            "list of 100 entities": (lambda: store.list_entities(workspace_id, EntityFilter(limit=100)), ""),
            "page of a hub": (lambda: page(_id(self.hub())), ""),
            "status": (lambda: store.statistics(workspace_id), ""),
            "run_calculation: summary": (lambda: calculated("Summary"), ""),
            "run_calculation: top 10 by relations": (lambda: calculated("top 10 services by relations"), ""),
            "centrality: the 10 highest": (lambda: store.centrality(workspace_id, 10), ""),
        }

    def in_sql(self) -> dict[str, Question]:
        async def everything(name: str) -> None:
            async with self.database.workspace(self.workspace_id) as connection:
                values = {"workspace_id": self.workspace_id, "id": _id(name)}
                await connection.execute(EVERYTHING_IN_SQL, values)

        return {EVERYTHING: (lambda: everything(self.anyone()), "")}

    def in_cypher(self, neo4j: Neo4jConnection) -> dict[str, Question]:
        async def everything(name: str) -> None:
            await neo4j.read(EVERYTHING_IN_CYPHER, self.workspace_id, id=_id(name))

        return {EVERYTHING: (lambda: everything(self.anyone()), "")}

    async def _find_hubs(self) -> None:
        if not self.hubs:
            self.hubs = [one.entity.name for one in await self.truth.top(self.workspace_id, "degree", None, 50)]


def _id(name: str) -> str:
    return entity_id(name.lower().replace(" ", ""))


async def _rows(
    title: str, of: _Graph, stores: dict[str, dict[str, Question]], servers: dict[str, psutil.Process | None]
) -> list[Row]:
    """Asks every question of all stores, about the same entities; their names are the same."""
    rows = []
    for name in next(iter(stores.values())):
        asked = {store: _Asked(servers[store]) for store in stores}
        for number in range(-WARM_UP, QUESTIONS):
            for store, questions in stores.items():
                of.draw.seed(number)
                await asked[store].ask(questions[name][0], is_counted=number >= 0)
        for store, questions in stores.items():
            hits = await _hits(of, questions[name][0]) if store == "neo4j" else ""
            rows.append((f"{store}, {title}: {name}", f"{asked[store]}{hits}", questions[name][1]))
            print(*rows[-1], flush=True)
    return rows


async def _hits(of: _Graph, ask: Callable[[], Awaitable[object]]) -> str:
    """Asks some of the questions again, profiled."""
    profiled, read = list[int](), Neo4jConnection.read

    async def profile(self: Neo4jConnection, cypher: str, workspace_id: UUID, **values: Any) -> list[Any]:
        query = Query(f"PROFILE {cypher}", timeout=6 * READ_SECONDS)
        answer = await self.driver.execute_query(query, {"workspace_id": str(workspace_id), **values})
        profiled.append(_reads(answer.summary.profile))
        return list(answer.records[0]["rows"])

    Neo4jConnection.read = profile  # type: ignore[method-assign]
    try:
        for number in range(PROFILED):
            of.draw.seed(number)
            await ask()
    except Neo4jError as error:
        return f", not profiled: {error.code}"
    finally:
        Neo4jConnection.read = read  # type: ignore[method-assign]
    return f", {sum(profiled) // PROFILED:,} reads of its store in {len(profiled) / PROFILED:.1f} statements"


def _reads(profile: Any) -> int:
    return profile["dbHits"] + sum(_reads(one) for one in profile.get("children", []))


class _Asked:
    """The times of one question."""

    def __init__(self, server: psutil.Process | None) -> None:
        self.server, self.seconds = server, list[float]()
        self.cpu, self.own, self.late = list[float](), list[float](), 0

    async def ask(self, ask: Callable[[], Awaitable[object]], *, is_counted: bool) -> None:
        before, own, start, late = _cpu(self.server), time.process_time(), time.perf_counter(), 0
        try:
            await ask()
        except (StoreUnavailable, QueryCanceled):
            late = 1
        if is_counted:
            self.seconds.append(time.perf_counter() - start)
            self.own.append(time.process_time() - own)
            self.cpu.append(_cpu(self.server) - before)
            self.late += late

    def __str__(self) -> str:
        late = f", {self.late} given up by the store's deadline" if self.late else ""
        # Servers tell their CPU time in hundredths of a second: only the mean says something.
        server = 1000 * sum(self.cpu) / len(self.cpu)
        return f"{spread(self.seconds)}, CPU: server {server:.1f} ms, client {spread(self.own)}{late}"


def _cpu(server: psutil.Process | None) -> float:
    """Returns the CPU seconds of a server and its living children; 0 if it does not run here."""
    spent = 0.0
    for process in [server, *server.children()] if server is not None else []:
        with suppress(psutil.NoSuchProcess):
            spent += sum(process.cpu_times()[:2])
    return spent


def _neo4j_server() -> psutil.Process | None:
    """Returns the process that listens where NEO4J_URL points to, if it is one of this machine."""
    port = urlsplit(Neo4jSettings().neo4j_url or "").port
    listening = (one for one in psutil.net_connections("tcp") if one.status == "LISTEN" and one.laddr.port == port)
    return next((psutil.Process(one.pid) for one in listening if one.pid), None)


@asynccontextmanager
async def _shown(database: Database, workspace_id: UUID) -> AsyncIterator[tuple[Neo4jStore | None, float]]:
    """Returns the store and the seconds that the projection took."""
    settings = Neo4jSettings()
    if settings.neo4j_url is None:
        yield None, 0.0
        return
    neo4j = Neo4jConnection(settings)
    start = time.perf_counter()
    await rebuild(database, neo4j, workspace_id)
    yield Neo4jStore(neo4j, PostgresStore(database)), time.perf_counter() - start
    await Neo4jProjection(neo4j).delete_workspace(workspace_id)
    await neo4j.aclose()
