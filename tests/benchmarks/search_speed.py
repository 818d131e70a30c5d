"""Search speed of the running service on a synthetic corpus: make bench ARGS="--only search".

BENCH_CHUNKS (100000) is its size, BENCH_FOLDER keeps the loaded database for the next run, BENCH_CONSUMERS (1) load it.
COMPARE_PYTHON names an interpreter with lancedb and chromadb, which are then measured for comparison.

Times are p50 / p95 in milliseconds. The service knows the vectors of the queries in advance; the bundled encoder has a
row of its own. Nothing is answered from the cache unless the row says so.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import numpy as np
import psycopg
from benchmarks import store_comparison
from benchmarks.exact_neighbours import exact_neighbours, recall
from benchmarks.figures import Row
from benchmarks.http_load import SearchClient, Timed
from benchmarks.loaded_index import LoadedIndex
from benchmarks.rerank_endpoint import rerank_endpoint
from benchmarks.search_scenario import FILTERED, Scenario
from benchmarks.store_comparison import milliseconds
from benchmarks.synthetic_corpus import SHARES, workspace_id
from deployment_keys import DeploymentKeys

from contracts.gateway import Role
from embedded.ports import free_port
from inference.embeddings import BUNDLED_SPACE
from inference.factory import build_embedders
from inference.settings import EmbeddingSettings
from retrieval.dense.plan import Sizes, choose
from retrieval.settings import Settings
from service_kit.auth import Principal

CLIENTS = 16
MODES = ("lexical", "dense", "hybrid")
TUPLE_COST = Settings.model_fields["hnsw_tuple_cost"].default
# A sum is not the index's order; without it, the outer limit ends the scan after the first ten.
BARE = """
    SELECT chunk FROM (
        SELECT chunk, embedding::halfvec({dims}) <=> %(vector)s::halfvec({dims}) AS distance FROM chunk_vector
        WHERE workspace_id = '{workspace}' AND model = '{model}' AND vector_dims(embedding) = {dims}
        ORDER BY distance LIMIT {at_least}
    ) AS nearest ORDER BY distance + 0 LIMIT 10
"""
NOBODY = "http://127.0.0.1:1"  # nothing is deleted here


def search_speed() -> list[Row]:
    chunks = int(os.environ.get("BENCH_CHUNKS", "100000"))
    kept = os.environ.get("BENCH_FOLDER")
    with tempfile.TemporaryDirectory(prefix="attractor-search-") as temporary:
        folder = Path(kept or temporary) / f"chunks-{chunks}"
        with LoadedIndex.opened(folder, chunks, int(os.environ.get("BENCH_CONSUMERS", "1"))) as index:
            scenario = Scenario.of(index.corpus)
            rows = [*index.rows, *index.sizes(), *_encoder(scenario)]
            exact = exact_neighbours(index.corpus, scenario.queries, scenario.scopes)
            bare = bare_statement(index, scenario)
            with served(index, scenario, cache=False) as client:
                timed = _times(client, scenario)
                rows += _recalls(client, scenario, exact) + _parts(client, scenario)
            rows += _table(timed) + _ratio(bare, timed["hybrid", "no filter", 1])
            with served(index, scenario, cache=True) as client:
                rows += _repeated(client, scenario)
            rows += _reranked(index, scenario)
        return rows + store_comparison.speed(scenario, folder / "stores", exact["no filter"])


@contextmanager
def served(index: LoadedIndex, scenario: Scenario, *, cache: bool, **settings: str) -> Iterator[SearchClient]:
    """Runs the service in a separate process with additional `settings`; the caller owns the largest workspace."""
    keys, port = DeploymentKeys(), free_port([])
    store_comparison.put_queries(index.folder, scenario.texts, scenario.vectors)
    access = index.engines.object_store
    environment = {
        "PORT": str(port),
        **keys.environment("retrieval"),
        "DATABASE_URL": index.service_url,
        "REDIS_URL": index.engines.redis_url("retrieval"),
        "GATEWAY_URL": NOBODY,
        "INGESTION_URL": NOBODY,
        "S3_ENDPOINT": access.endpoint,
        "S3_ACCESS_KEY": access.access_key,
        "S3_SECRET_KEY": access.secret_key,
        "LOG_LEVEL": "WARNING",
        "OPENBLAS_NUM_THREADS": "1",  # as set by `python -m retrieval`; the server here imports numpy first
        **({} if cache else {"SEARCH_CACHE": "false"}),
        **settings,
    }
    command = [*os.environ.get("BENCH_UNDER", "").split(), sys.executable, "-m", "benchmarks.search_server"]
    service = subprocess.Popen([*command, str(index.folder)], env=os.environ | environment)
    try:
        _wait_until_ready(port, service)
        yield SearchClient(port, keys.tokens("gateway"), Principal(uuid4(), workspace_id(0), Role.owner))
    finally:
        service.terminate()
        service.wait(30)


def bare_statement(index: LoadedIndex, scenario: Scenario) -> list[float]:
    """Returns the seconds for the ten nearest by pgvector's HNSW in the same database, with as many candidates."""
    chunks = index.corpus.chunks
    setting = Settings.model_fields["hnsw_ef_search"].default
    plan = choose(Sizes(round(SHARES[0] * chunks), round(SHARES[0] * chunks), chunks), setting, TUPLE_COST, 0)
    space = {"model": BUNDLED_SPACE.model, "dims": BUNDLED_SPACE.dims}
    statement = BARE.format(workspace=workspace_id(0), at_least=max(10, plan.at_least), **space)
    with psycopg.connect(index.admin_url, autocommit=True) as connection:
        connection.execute("SET search_path TO retrieval, public")
        connection.execute(f"SET hnsw.ef_search = {plan.candidates}")
        connection.execute(f"SET hnsw.max_scan_tuples = {plan.most_compared}")
        connection.execute("SET hnsw.iterative_scan = relaxed_order")
        texts = [f"[{','.join(map(str, query.vector.tolist()))}]" for query in scenario.queries]
        seconds: list[float] = []
        for _ in range(2):  # the first time is a warm-up
            seconds = []
            for text in texts:
                began = time.perf_counter()
                connection.execute(statement, {"vector": text}).fetchall()
                seconds.append(time.perf_counter() - began)
    return seconds


def _times(client: SearchClient, scenario: Scenario) -> dict[tuple[str, str, int], Timed]:
    for mode in MODES:
        client.ask_all(scenario.requests(mode))
    timed = {}
    for mode in MODES:
        for name in scenario.filters:
            requests = scenario.requests(mode, name)
            if name != "no filter":
                client.ask_all(requests[:10])
            for clients in (1, CLIENTS):
                timed[mode, name, clients] = client.ask_all(requests, clients)
    return timed


def _table(timed: dict[tuple[str, str, int], Timed]) -> list[Row]:
    rows: list[Row] = []
    for (mode, name, clients), found in timed.items():
        aim = "p95 40" if (mode, name, clients) == ("hybrid", "no filter", 1) else ""
        many = "1 client" if clients == 1 else f"{clients} clients, {len(found.seconds) / found.wall:.0f}/s"
        late = f", {found.late} legs left out" if found.late else ""
        rows.append((f"{mode}, {name}, {many} (ms)", f"{found}{late}", aim))
    return rows


def _ratio(bare: Sequence[float], fused: Timed) -> list[Row]:
    alone = {share: 1000 * float(np.quantile(bare, share)) for share in (0.5, 0.95)}
    ratios = [f"{fused.milliseconds(share) / alone[share]:.1f}" for share in (0.5, 0.95)]
    return [
        ("bare pgvector statement, 10 nearest (ms)", milliseconds(bare), ""),
        ("  hybrid endpoint as a ratio of it, p50 / p95", " / ".join(ratios), "3 at 100,000, 2 at 1,000,000"),
    ]


def _recalls(client: SearchClient, scenario: Scenario, exact: dict[str, list[set[str]]]) -> list[Row]:
    rows: list[Row] = []
    for name in scenario.filters:
        found = client.ask_all(scenario.requests("dense", name, fold_duplicates=False))
        methods = {leg["method"].split(":")[0] for body in found.bodies for leg in body["legs"] if leg["method"]}
        true = exact[name] if name == "no filter" else exact[name][::FILTERED]
        share = recall([[hit["chunk_id"] for hit in body["hits"]] for body in found.bodies], true)
        rows.append((f"recall@10 of dense, {name} ({', '.join(sorted(methods))})", f"{share:.4f}", ".98"))
    return rows


def _parts(client: SearchClient, scenario: Scenario) -> list[Row]:
    """Returns medians of the times within a hybrid search, as `explain` reports them."""
    explained = client.ask_all(scenario.requests("hybrid", explain=True)[:100]).bodies
    parts: dict[str, list[float]] = {}
    for body in explained:
        for leg in body["legs"]:
            parts.setdefault(f"leg {leg['leg']}", []).append(leg["milliseconds"])
        for name, value in (body.get("timings") or {}).items():
            parts.setdefault(name, []).append(value)
        parts.setdefault("whole search", []).append(body["milliseconds"])
    return [(f"  within hybrid: {name}, p50 (ms)", f"{np.median(values):.1f}", "") for name, values in parts.items()]


def _reranked(index: LoadedIndex, scenario: Scenario) -> list[Row]:
    """Measures the round trip to a reranker that responds instantly."""
    with rerank_endpoint() as url:
        settings = {"RERANK_BACKEND": "tei", "RERANK_BASE_URL": url, "RERANK_MODEL": "scripted"}
        with served(index, scenario, cache=False, **settings) as client:
            requests = scenario.requests("hybrid")
            client.ask_all(requests)
            timed = client.ask_all(requests)
    if {body["reranked_by"] for body in timed.bodies} != {"scripted"}:
        raise RuntimeError("not every answer was reranked")
    return [("hybrid, reranked over HTTP, 1 client (ms)", f"{timed}", "")]


def _repeated(client: SearchClient, scenario: Scenario) -> list[Row]:
    requests = scenario.requests("hybrid")
    client.ask_all(requests)
    rows: list[Row] = []
    for clients in (1, CLIENTS):
        found = client.ask_all(requests, clients)
        share = np.mean([body["cached"] for body in found.bodies])
        name = f"hybrid, repeated, {clients} client{'s' * (clients > 1)} (ms)"
        rows.append((name, f"{found}, {share:.0%} from the cache", ""))
    return rows


def _encoder(scenario: Scenario) -> list[Row]:
    """Measures embedding one query at a time, as the service does without its cache."""

    async def embed() -> list[float]:
        embedder = build_embedders(EmbeddingSettings(), queries=True).default
        await embedder.embed(["warm"])
        seconds = []
        for query in scenario.queries[:100]:
            began = time.perf_counter()
            await embedder.embed([query.text])
            seconds.append(time.perf_counter() - began)
        await embedder.aclose()
        return seconds

    return [("vector of a new query, bundled encoder (ms)", milliseconds(asyncio.run(embed())), "")]


def _wait_until_ready(port: int, service: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and service.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the retrieval service does not answer")
