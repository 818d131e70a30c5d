"""Latency of expansion in large graphs, and what the server computes for it; in Neo4j too where NEO4J_URL is set."""

from __future__ import annotations

import os
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID, uuid4

import psycopg
from benchmarks.figures import Row, spread

from embedded.engines import Engines
from knowledge_graph.expansion.hops import expand
from knowledge_graph.projection.maintenance import rebuild
from knowledge_graph.projection.redrawing import remove_workspace
from knowledge_graph.settings import Neo4jSettings
from knowledge_graph.store.interface import GraphStore, SubgraphBounds
from knowledge_graph.store.neo4j import Neo4jStore
from knowledge_graph.store.neo4j_connection import Neo4jConnection
from knowledge_graph.store.postgres import PostgresStore
from service_kit.migrate import migrate
from service_kit.postgres import Database

SIZES = ((20_000, 100_000, 200_000), (200_000, 1_000_000, 2_000_000))
HUB_RELATIONS = 50_000
QUESTIONS, LIMIT = 60, 50
CLOCK = os.sysconf("SC_CLK_TCK")
FILL = Path(__file__).with_name("graph_speed.sql")


async def graph_speed(sizes: tuple[tuple[int, int, int], ...] = SIZES) -> list[Row]:
    """Two hops from three seeds to chunks, as the service's expansion by hops does it."""
    rows: list[Row] = []
    with Engines.temporary() as engines:
        place = urlsplit(engines.admin_database_url)
        service = place._replace(netloc=f"attractor_knowledge_graph:benchmark@{place.hostname}:{place.port}")
        migrate(engines.admin_database_url, urlunsplit(service), "knowledge_graph", "knowledge_graph")
        # One connection: its process is the server's work.
        async with Database(urlunsplit(service), 3).opened() as database:
            for entities, relations, mentions in sizes:
                workspace_id = uuid4()
                with psycopg.connect(engines.admin_database_url) as admin:
                    _fill(admin, workspace_id, entities, relations, mentions)
                    admin.commit()
                    admin.autocommit = True
                    admin.execute("VACUUM ANALYZE")
                title = f"{entities:,} entities, {relations:,} relations, {mentions:,} mentions"
                rows += await _store_rows(PostgresStore(database), workspace_id, title, entities, _postgres_cpu)
                async with _shown(database, workspace_id) as (neo4j, seconds):
                    if neo4j is not None:
                        rows.append((f"{title}: drawn anew in Neo4j", f"{seconds:.0f} s", "minutes"))
                        rows += await _store_rows(neo4j, workspace_id, title, entities, None)
    return rows


def _fill(admin: psycopg.Connection, workspace_id: UUID, entities: int, relations: int, mentions: int) -> None:
    """A few entities take part in most relations; the first has 50,000 where there are so many entities."""
    admin.execute("SET search_path = knowledge_graph, public")
    for statement in FILL.read_text(encoding="utf-8").split(";"):
        values = {"workspace": workspace_id, "entities": entities, "relations": relations, "mentions": mentions}
        if statement.strip():
            admin.execute(statement, values | {"hub": min(HUB_RELATIONS, entities - 1)})  # type: ignore[arg-type]


async def _store_rows(
    store: GraphStore, workspace_id: UUID, title: str, entities: int, cpu: Callable[[], float] | None
) -> list[Row]:
    draw = random.Random(5)
    aim = "p95 50 ms" if entities <= 20_000 else ""
    hubs = [one.entity.id for one in await store.top(workspace_id, "degree", None, 50)]

    def anyone() -> str:
        return f"{draw.randrange(entities):032x}"

    async def expanded(ids: list[str]) -> None:
        seeds = await store.entities(workspace_id, ids)
        assert await expand(store, workspace_id, seeds, 2, 1, LIMIT)

    questions: dict[str, tuple[Callable[[], Awaitable[object]], str]] = {
        "two hops from 3 of its entities": (lambda: expanded([anyone() for _ in range(3)]), aim),
        "two hops from 3 of its 50 hubs": (lambda: expanded(draw.sample(hubs, 3)), aim),
        "two hops from its largest hub": (lambda: expanded(hubs[:1]), aim),
        "shortest paths between two": (lambda: store.shortest_paths(workspace_id, anyone(), anyone(), 6, 5), ""),
        "closure of a hub, depth 3": (
            lambda: store.closure(workspace_id, draw.choice(hubs), "out", ["USES"], 3, 200),
            "",
        ),
        "picture around a hub": (
            lambda: store.subgraph(workspace_id, [draw.choice(hubs)], 2, SubgraphBounds()),
            "",
        ),
    }
    rows = []
    for name, (ask, wanted) in questions.items():
        for _ in range(5):
            await ask()
        seconds, before = [], cpu() if cpu else 0.0
        for _ in range(QUESTIONS):
            start = time.perf_counter()
            await ask()
            seconds.append(time.perf_counter() - start)
        spent = f", server {1000 * (cpu() - before) / QUESTIONS:.0f} ms" if cpu else ""
        rows.append((f"{store.name}, {title}: {name}", spread(seconds) + spent, wanted))
    return rows


def _postgres_cpu() -> float:
    """Seconds that all processes of PostgreSQL's service role have computed; they live as long as the pool."""
    spent = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"attractor_knowledge_graph" in (process / "cmdline").read_bytes():
                fields = (process / "stat").read_text().rpartition(")")[2].split()
                spent += int(fields[11]) + int(fields[12])
        except (FileNotFoundError, ProcessLookupError):
            continue
    return spent / CLOCK


@asynccontextmanager
async def _shown(database: Database, workspace_id: UUID) -> AsyncIterator[tuple[Neo4jStore | None, float]]:
    """The store and the seconds that drawing took."""
    settings = Neo4jSettings()
    if settings.neo4j_url is None:
        yield None, 0.0
        return
    neo4j = Neo4jConnection(settings)
    start = time.perf_counter()
    await rebuild(database, neo4j, workspace_id)
    yield Neo4jStore(neo4j, PostgresStore(database)), time.perf_counter() - start
    await remove_workspace(neo4j, workspace_id)
    await neo4j.aclose()
