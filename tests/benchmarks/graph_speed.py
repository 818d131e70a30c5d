"""Latency of expansion, searches and tools in large graphs, and the server's CPU time; also in Neo4j if NEO4J_URL is
set: then each question goes to both stores in turn, so that both find the machine equally busy.

BENCH_ENTITIES picks sizes by their number of entities (20000 200000), BENCH_QUESTIONS (60) is how often each is asked.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID, uuid4

import psutil
import psycopg
from benchmarks.figures import Row, spread
from psycopg.errors import QueryCanceled
from pydantic import SecretStr

from contracts.graph_expansion import ExpandRequest, GraphMethod
from contracts.graph_tools import AnalyzeDependencies, LookupFacts, RunCalculation, ShortestPath
from contracts.ingestion import Chunk
from embedded.engines import Engines
from knowledge_graph.errors import StoreUnavailable
from knowledge_graph.expansion.bridging import Bridging
from knowledge_graph.expansion.gazetteer import Gazetteers
from knowledge_graph.expansion.hops import expand
from knowledge_graph.extraction.names import entity_id
from knowledge_graph.graph_store import EntityFilter, GraphStore, SubgraphBounds
from knowledge_graph.neo4j.connection import Neo4jConnection
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
from knowledge_graph.tools.paths import shortest_path
from service_kit.migrate import migrate
from service_kit.objects import ObjectStore
from service_kit.postgres import Database
from service_kit.settings import ObjectStoreSettings

SIZES = ((20_000, 100_000, 200_000), (200_000, 1_000_000, 2_000_000))
HUB_RELATIONS = 50_000
QUESTIONS, LIMIT = int(os.environ.get("BENCH_QUESTIONS", "60")), 50
OF_A_DOCUMENT = 30
Question = tuple[Callable[[], Awaitable[object]], str]
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
                of = _Graph(database, ChunkTexts(database, objects), workspace_id, entities)
                rows += await _rows(title, {"postgres": await of.bridges()}, servers)
                questions = {"postgres": await of.questions(PostgresStore(database))}
                async with _shown(database, workspace_id) as (neo4j, seconds):
                    if neo4j is not None:
                        rows.append((f"{title}: rebuilt in Neo4j", f"{seconds:.0f} s", "minutes"))
                        questions["neo4j"] = await of.questions(neo4j)
                    rows += await _rows(title, questions, servers)
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
        gazetteers = Gazetteers(self.database, Generations(self.database, ""))
        bridging = Bridging(self.database, gazetteers)
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

        async def linked(source: str, target: str) -> None:
            await shortest_path(store, workspace_id, ShortestPath(source=source, target=target))

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
            "list of 100 entities": (lambda: store.list_entities(workspace_id, EntityFilter(limit=100)), ""),
            "page of a hub": (lambda: page(_id(self.hub())), ""),
            "status": (lambda: store.statistics(workspace_id), ""),
            "run_calculation: summary": (lambda: calculated("Summary"), ""),
            "run_calculation: top 10 by relations": (lambda: calculated("top 10 services by relations"), ""),
        }

    async def _find_hubs(self) -> None:
        if not self.hubs:
            self.hubs = [one.entity.name for one in await self.truth.top(self.workspace_id, "degree", None, 50)]


def _id(name: str) -> str:
    return entity_id(name.lower().replace(" ", ""))


async def _rows(
    title: str, stores: dict[str, dict[str, Question]], servers: dict[str, psutil.Process | None]
) -> list[Row]:
    """Asks every question of all stores; their names are the same."""
    rows = []
    for name in next(iter(stores.values())):
        asked = {store: _Asked(servers[store]) for store in stores}
        for number in range(-5, QUESTIONS):
            for store, questions in stores.items():
                await asked[store].ask(questions[name][0], is_counted=number >= 0)
        for store, questions in stores.items():
            rows.append((f"{store}, {title}: {name}", str(asked[store]), questions[name][1]))
            print(*rows[-1], flush=True)
    return rows


class _Asked:
    """The times of one question."""

    def __init__(self, server: psutil.Process | None) -> None:
        self.server, self.seconds = server, list[float]()
        self.cpu, self.late = 0.0, 0

    async def ask(self, ask: Callable[[], Awaitable[object]], *, is_counted: bool) -> None:
        before, start, late = _cpu(self.server), time.perf_counter(), 0
        try:
            await ask()
        except (StoreUnavailable, QueryCanceled):
            late = 1
        if is_counted:
            self.seconds.append(time.perf_counter() - start)
            self.cpu += _cpu(self.server) - before
            self.late += late

    def __str__(self) -> str:
        late = f", {self.late} given up by the store's deadline" if self.late else ""
        return f"{spread(self.seconds)}, server {1000 * self.cpu / len(self.seconds):.0f} ms{late}"


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
