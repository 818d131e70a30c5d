"""The dense leg with as many candidates as a million chunks have, beside the bare statement of pgvector.

    cd tests && ../.venv/bin/python -m benchmarks.dense_leg

Stores BENCH_CHUNKS (100000) vectors without texts, and asks BENCH_QUERIES (100) with the plan for a million.

What is compared takes turns, question by question, each on a connection of its own, so that other work on the machine
is the same for all. Costs are CPU of the server's processes, so they hardly depend on that work.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np
import psutil
import psycopg
from benchmarks.search_speed import BARE
from benchmarks.synthetic_corpus import SHARES, Corpus, Query, workspace_id
from numpy.typing import NDArray

from embedded.engines import Engines
from inference.embeddings import BUNDLED_SPACE
from retrieval.dense.nearest import Nearest
from retrieval.dense.plan import MOST_CANDIDATES, ScanPlan, Sizes, candidates, choose
from retrieval.reading.snapshot import SearchStore
from retrieval.reading.vectors import vector_text
from retrieval.settings import Settings
from service_kit.migrate import migrate
from service_kit.postgres import Database

MILLION = 1_000_000
DEPTH, TOP = 100, 10
EFFORT = int(Settings.model_fields["hnsw_ef_search"].default)
SPACE = {"model": BUNDLED_SPACE.model, "dims": BUNDLED_SPACE.dims}
STORE = "COPY chunk_vector (workspace_id, chunk, document, model, embedding) FROM STDIN"
Int64s = NDArray[np.int64]


def planned() -> ScanPlan:
    """Returns the plan for a workspace with 70 % of a million chunks."""
    own = round(SHARES[0] * MILLION)
    return choose(Sizes(own, own, MILLION), EFFORT, Settings.model_fields["hnsw_tuple_cost"].default, 0)


@dataclass
class Contender:
    """A way to find the nearest; `found` are its answers, and `seconds` the CPU that they took."""

    name: str
    connection: psycopg.Connection[Any]
    statement: str
    found: list[list[int]] = field(default_factory=list)
    seconds: float = 0.0

    def ask(self, vector: str) -> None:
        server = psutil.Process(self.connection.info.backend_pid)
        before = sum(server.cpu_times()[:2])
        self.found.append([row[0] for row in self.connection.execute(self.statement, {"vector": vector})])
        self.seconds += sum(server.cpu_times()[:2]) - before

    def blocks(self, vector: str) -> int:
        """Returns the pages that the server reads for one question."""
        explained = self.connection.execute(
            f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {self.statement}", {"vector": vector}
        )
        top = explained.fetchall()[0][0][0]["Plan"]
        return int(top["Shared Hit Blocks"] + top["Shared Read Blocks"])


@dataclass(frozen=True)
class Vectors:
    """The stored vectors of the largest workspace: its chunks' numbers, and the questions with their true nearest."""

    chunks: int
    queries: Sequence[Query]
    nearest: Sequence[set[int]]

    def recall(self, found: Sequence[Sequence[int]]) -> float:
        """Returns the mean share of the true nearest among the first ten."""
        pairs = zip(found, self.nearest, strict=True)
        return float(np.mean([len(set(ids[:TOP]) & true) / TOP for ids, true in pairs]))


def stored(admin_url: str, corpus: Corpus, questions: int) -> Vectors:
    """Stores the corpus's vectors, builds the index, and compares all with the questions."""
    queries = corpus.queries(questions)
    asked = np.stack([query.vector for query in queries])
    scores, numbers = list[NDArray[np.float32]](), list[Int64s]()
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute("SET search_path TO retrieval, public")
        with connection.cursor() as cursor, cursor.copy(STORE) as rows:
            first = 0
            for batch in range(corpus.batches):
                vectors, owners = corpus.vectors(batch), corpus.workspace_of_chunks(batch)
                chunks = np.arange(first, first + len(vectors))
                first += len(vectors)
                for chunk, owner, vector in zip(chunks.tolist(), owners.tolist(), vectors, strict=True):
                    number = (1 + chunk) << 20
                    rows.write_row((workspace_id(owner), number, number >> 20, SPACE["model"], vector_text(vector)))
                scores.append(asked @ vectors[owners == 0].T)
                numbers.append((1 + chunks[owners == 0]) << 20)
        connection.execute("SET maintenance_work_mem = '1GB'")
        connection.execute("SELECT ensure_vector_index(%s, %s)", (SPACE["model"], SPACE["dims"]))
        connection.execute("VACUUM ANALYZE chunk_vector")
    own, similar = np.concatenate(numbers), np.concatenate(scores, axis=1)
    best = np.argpartition(-similar, TOP, axis=1)[:, :TOP]
    return Vectors(len(own), queries, [set(own[row].tolist()) for row in best])


@contextmanager
def connected(url: str, plan: ScanPlan) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET search_path TO retrieval, public")
        connection.execute("SELECT set_config('app.workspace_id', %s, false)", [str(workspace_id(0))])
        for name, value in {
            "hnsw.ef_search": plan.candidates,
            "hnsw.max_scan_tuples": plan.most_compared,
            "hnsw.iterative_scan": "relaxed_order",
            "work_mem": "32MB",
            "plan_cache_mode": "force_custom_plan",
        }.items():
            connection.execute("SELECT set_config(%s, %s, false)", [name, str(value)])
        yield connection


def contenders(stack: ExitStack, admin_url: str, service_url: str) -> list[Contender]:
    """Returns the bare statement with a first batch, and with whole batches and with the plan's as the leg reads them;
    the last as the service's role, for which row-level security adds a condition.
    """
    plan = planned()
    whole = ScanPlan(False, plan.most_compared, "", MOST_CANDIDATES, candidates(EFFORT, MILLION))
    compared = (
        ("first batch of 1,000 only", admin_url, ScanPlan(False, plan.most_compared, "", MOST_CANDIDATES, TOP)),
        ("whole batches of 1,000", admin_url, whole),
        (f"equal batches of {plan.candidates:,}", admin_url, plan),
        ("the same as the service's role", service_url, plan),
    )
    return [
        Contender(
            name,
            stack.enter_context(connected(url, one)),
            BARE.format(workspace=workspace_id(0), at_least=one.at_least, **SPACE),
        )
        for name, url, one in compared
    ]


async def leg(service_url: str, vectors: Vectors) -> tuple[list[list[int]], float, float]:
    """Asks as the leg does; returns what it found, and the CPU seconds of this process and of the server's."""
    plan, found, server, here = planned(), list[list[int]](), 0.0, 0.0
    async with Database(service_url, 1).opened() as database:
        for query in vectors.queries:
            async with SearchStore(database, 0).snapshot(workspace_id(0), 60) as snapshot:
                process = psutil.Process(snapshot.reader.connection.info.backend_pid)
                before, began = sum(process.cpu_times()[:2]), time.process_time()
                nearest = Nearest(snapshot.reader, query.vector, BUNDLED_SPACE, None, DEPTH)
                answer = await nearest.approximate(plan)
                here += time.process_time() - began
                server += sum(process.cpu_times()[:2]) - before
                found.append([one.chunk for one in answer])
    return found, here, server


def main() -> None:
    chunks, questions = int(os.environ.get("BENCH_CHUNKS", "100000")), int(os.environ.get("BENCH_QUERIES", "100"))
    with Engines.temporary() as engines, ExitStack() as stack:
        admin_url = engines.admin_database_url
        parts = urlsplit(admin_url)
        service_url = urlunsplit(parts._replace(netloc=f"attractor_retrieval:benchmark@{parts.hostname}:{parts.port}"))
        migrate(admin_url, service_url, "retrieval", "retrieval")
        vectors = stored(admin_url, Corpus(chunks), questions)
        print(f"{vectors.chunks} vectors of the workspace that is asked; {planned()}", flush=True)
        compared = contenders(stack, admin_url, service_url)
        texts = [vector_text(query.vector) for query in vectors.queries]
        for text in texts:
            for contender in compared:
                contender.ask(text)
        for contender in compared:
            blocks = np.mean([contender.blocks(text) for text in texts[:20]])
            each = 1000 * contender.seconds / questions
            recall = vectors.recall(contender.found)
            print(f"{contender.name:32} {each:6.1f} ms CPU, {blocks:7.0f} pages, recall@10 {recall:.4f}", flush=True)
        found, here, server = asyncio.run(leg(service_url, vectors))
        here, server = 1000 * here / questions, 1000 * server / questions
        recall = vectors.recall(found)
        print(f"{'the leg, 100 chunks':32} {server:6.1f} ms CPU, {here:.1f} ms here, recall@10 {recall:.4f}")


if __name__ == "__main__":
    main()
