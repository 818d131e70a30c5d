"""The knowledge graph's effect on search, with both services' own code: recall@5 (mh-*), nDCG@10 (ir-*).

python tests/benchmarks/graph_quality.py FOLDER...

Index and graph are written by the code of their consumers; the search calls the graph over HTTP, as in production. The
graph of `titles hidden` gets no titles. DATA (a folder) keeps databases for the next run, VARIANTS picks some of
`titles hidden`. Embeddings are cached in EMBEDDING_CACHE.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID, uuid4, uuid5

import httpx2
from api_calls import EVALUATION
from benchmarks.figures import Row
from benchmarks.retrieval_quality import SPACE, Bench, Dataset, converted, middle, opened
from benchmarks.store_comparison import left_out
from deployment_keys import DeploymentKeys

from contracts.events import DocumentConverted, Event
from contracts.gateway import Role
from contracts.graph_expansion import GraphMethod
from contracts.retrieval import SearchMode, SearchRequest
from embedded.engines import Engines
from knowledge_graph.app import create_app
from knowledge_graph.consumer import SERVICE, DocumentGraphs
from knowledge_graph.extraction.extractor import Extractor
from knowledge_graph.settings import Settings
from retrieval.search.legs import Legs
from retrieval.search.search import Search
from service_kit.auth import Principal
from service_kit.http_service import HttpService
from service_kit.migrate import migrate
from service_kit.objects import ObjectStore
from service_kit.outbox import Outbox
from service_kit.postgres import Database

AIMS = {"mh-2wiki": "0.97", "mh-musique": "0.82"}
REPLICAS = 2
AT_ONCE = 2 * REPLICAS
METHODS: dict[str, dict[str, object]] = {
    "dense": {"mode": SearchMode.dense},
    "BM25": {"mode": SearchMode.lexical},
    "hybrid": {"use_graph": False},
    "hybrid + graph hops": {"graph_method": GraphMethod.hops},
    "hybrid + graph bridge": {"graph_method": GraphMethod.bridge},
}
HIDDEN = " (titles hidden from the graph)"


@dataclass(frozen=True)
class Graphs:
    """The knowledge-graph service, and the work of its consumer."""

    service: HttpService
    replicas: list[DocumentGraphs]

    async def add(self, workspace_id: UUID, told: DocumentConverted, content: bytes) -> None:
        """Handles the event like consumers of several replicas; its object is in the store."""
        documents = self.replicas[told.document_id.int % len(self.replicas)]
        await documents.objects.aput(told.chunks_key, content)
        event = Event(
            id=uuid5(workspace_id, str(told.document_id)),
            source="benchmark",
            type=told.event_type,
            time=datetime.now(UTC),
            subject=str(told.document_id),
            workspace_id=workspace_id,
            data=told.model_dump(mode="json"),
        )
        await documents.graph(event)


@asynccontextmanager
async def graphs(engines: Engines) -> AsyncIterator[Graphs]:
    """Yields the service on these engines, called without a network."""
    parts = urlsplit(engines.admin_database_url)
    place = f"{parts.hostname}:{parts.port}"
    service_url = urlunsplit(parts._replace(netloc=f"attractor_knowledge_graph:benchmark@{place}"))
    migrate(engines.admin_database_url, service_url, "knowledge_graph", "knowledge_graph")
    store = engines.object_store
    keys = DeploymentKeys()
    settings = Settings(
        port=0,
        **keys.settings("knowledge-graph"),
        database_url=service_url,
        redis_url=engines.redis_url("knowledge-graph"),
        gateway_url="http://127.0.0.1:1",  # nothing is deleted here
        ingestion_url="http://127.0.0.1:1",
        s3_endpoint=store.endpoint,
        s3_access_key=store.access_key,
        s3_secret_key=store.secret_key,
    )
    app = create_app(settings)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(app.router.lifespan_context(app))
        objects = ObjectStore(settings)
        stack.callback(objects.close)
        objects.ensure_bucket()
        database = await stack.enter_async_context(Database(service_url).opened())
        extractors = [await stack.enter_async_context(Extractor()) for _ in range(REPLICAS)]
        client = await stack.enter_async_context(httpx2.AsyncClient(transport=httpx2.ASGITransport(app)))
        outbox = Outbox(SERVICE)
        replicas = [DocumentGraphs(database, objects, one, outbox, projects=False) for one in extractors]
        yield Graphs(HttpService("knowledge-graph", client, keys.tokens("gateway"), "http://graph", 5.0), replicas)


async def build(bench: Bench, graph: Graphs, dataset: Dataset) -> UUID:
    """Builds index and graph of the documents, one chunk each, unless they exist already (see DATA)."""
    workspace_id = uuid5(SPACE, dataset.name)
    async with graph.replicas[0].database.workspace(workspace_id) as connection:
        rows = await connection.execute("SELECT count(*) FROM graphed_document")
        held = (await rows.fetchone() or (0,))[0]
    if not held:
        await bench.index_dataset(dataset)
    await bench.embedder.remember([text for _, text in dataset.questions])
    if held == len(dataset.documents):
        return workspace_id
    turns, start = asyncio.Semaphore(AT_ONCE), time.perf_counter()

    async def add(name: str, title: str, text: str) -> None:
        shown = "" if dataset.name.endswith(HIDDEN) else title
        told, chunks = converted(uuid5(SPACE, name), name, shown, [text], bench.embedder.space)
        key = f"{workspace_id}/{told.document_id}/chunks.jsonl"
        told = told.model_copy(update={"chunks_key": key, "title": shown or None})
        async with turns:
            await graph.add(workspace_id, told, "\n".join(one.model_dump_json() for one in chunks).encode())

    await asyncio.gather(*(add(*one) for one in dataset.documents))
    took = time.perf_counter() - start
    print(f"{dataset.name}: graph of {len(dataset.documents)} documents in {took:.0f} s", file=sys.stderr, flush=True)
    return workspace_id


async def figures(search: Search, workspace_id: UUID, dataset: Dataset) -> list[Row]:
    """Returns the measure and the seconds per search, by method."""
    caller = Principal(uuid4(), workspace_id, Role.viewer)
    measure = "recall@5" if dataset.name.startswith("mh") else "nDCG@10"
    rows: list[Row] = []
    for name, options in METHODS.items():
        values, times = [], []
        for question, text in dataset.questions:
            start = time.perf_counter()
            request = SearchRequest(query=text, fold_duplicates=False, **options)
            answer = await search(workspace_id, request, caller=caller)
            times.append(1000 * (time.perf_counter() - start))
            values.append(dataset.measure(question, [hit.document_name for hit in answer.hits]))
            if late := [leg for leg in answer.legs if leg.error]:
                print(f"{dataset.name}, {name}: {late}", file=sys.stderr)
        aim = AIMS.get(dataset.name, "") if name.endswith("bridge") else ""
        found = f"{sum(values) / len(values):.4f} ({middle(times):.0f} ms)"
        rows.append((f"{measure} of {dataset.name}: {name}", found, aim))
        print("  ".join(rows[-1]), file=sys.stderr, flush=True)
    return rows


async def measured(engines: Engines, folders: list[Path]) -> list[Row]:
    rows: list[Row] = []
    async with opened(engines.admin_database_url) as bench, graphs(engines) as graph:
        legs = bench.search.legs
        asking = Legs(legs.store, bench.vectors, bench.analyzer, legs.limits, graph.service)
        search = Search(asking, bench.analyzer)
        for folder in folders:
            dataset = Dataset.read(folder)
            variants = [dataset]
            if dataset.name.startswith("mh"):
                variants.append(replace(dataset, name=dataset.name + HIDDEN))
            wanted = os.environ.get("VARIANTS", "titles hidden").split()
            for one in variants:
                if ("hidden" if one.name.endswith(HIDDEN) else "titles") in wanted:
                    rows += await figures(search, await build(bench, graph, one), one)
    return rows


@contextmanager
def engines() -> Iterator[Engines]:
    if kept := os.environ.get("DATA"):
        with Engines.start(Path(kept)) as found:
            yield found
    else:
        with Engines.temporary() as found:
            yield found


def graph_quality() -> list[Row]:
    """Measures the folders mh-*, ir-scifact and ir-cranfield of the evaluation data, if present."""
    names = ("mh-musique", "mh-2wiki", "ir-cranfield", "ir-scifact")
    folders = [EVALUATION / name for name in names if (EVALUATION / name).exists()]
    if not folders:
        return left_out("quality with the graph, for want of ../shared/eval")
    with engines() as found:
        return asyncio.run(measured(found, folders))


if __name__ == "__main__":
    with engines() as started:
        asyncio.run(measured(started, [Path(name) for name in sys.argv[1:]]))
