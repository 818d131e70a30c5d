"""The legs of a search: each in a transaction of its own, with a deadline of its own. A failure is its report."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

import psycopg

from inference.embedders import SpaceKey
from inference.embeddings import Embedder
from inference.errors import EmbeddingError
from retrieval.dense.query_vectors import QueryVectors, Vector
from retrieval.lexical.analysis import Analyzer
from retrieval.lexical.bm25 import WeightedQuery, weighted
from retrieval.search.reader import IndexReader, Scope, Scored, SearchStore
from service_kit.problems import Unavailable

log = logging.getLogger(__name__)
MOST_TERMS = 48  # of a query; of a longer one the rarest are asked for
RARITY_CEILING = 300  # chunks; counting further would not change which terms are rare


@dataclass(frozen=True)
class Limits:
    """Deadlines in seconds; `exact_scan` is the most vectors that are compared one by one."""

    lexical_seconds: float = 2.0
    dense_seconds: float = 3.0
    highlight_seconds: float = 3.0
    exact_scan: int = 10_000


@dataclass(frozen=True)
class Asked:
    """What the legs are asked. `space`: the active one, None for a workspace that has none yet.

    `snapshot`: the one transaction for all of the search, or None: each leg opens its own.
    """

    workspace_id: UUID
    query: str
    scope: Scope | None
    space: SpaceKey | None
    depth: int
    snapshot: IndexReader | None = None


@dataclass
class Leg:
    """What a leg did. `error` is None when it was in time."""

    name: str
    found: list[Scored] = field(default_factory=list)
    method: str | None = None
    error: str | None = None
    milliseconds: float = 0.0

    async def within(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        """Does the work; what comes too late or fails is recorded, and the other leg goes on."""
        start = time.perf_counter()
        try:
            async with asyncio.timeout(seconds):
                await work()
        except (TimeoutError, psycopg.errors.QueryCanceled):
            self.found, self.error = [], f"not done within {seconds:g} s"
        except (psycopg.Error, EmbeddingError, Unavailable) as error:
            log.warning("leg failed", extra={"leg": self.name}, exc_info=error)
            self.found, self.error = [], f"{type(error).__name__}: the leg failed"
        self.milliseconds = 1000 * (time.perf_counter() - start)


class LexicalLeg(Leg):
    """BM25. `query` is set when the terms could be weighed."""

    query: WeightedQuery | None = None

    async def run(self, reader: IndexReader, asked: Asked, analyzer: Analyzer) -> None:
        terms = analyzer.terms(asked.query)
        distinct = list(dict.fromkeys(terms))
        if len(distinct) > MOST_TERMS:
            kept = set(await reader.rarest(distinct, MOST_TERMS, RARITY_CEILING))
            terms = [term for term in terms if term in kept]
        chunks, total = await reader.size()
        self.query = weighted(terms, await reader.frequencies(list(dict.fromkeys(terms))), chunks, total)
        self.found = await reader.lexical(self.query, asked.scope, asked.depth)
        dropped = len(distinct) - len(self.query.weights)
        known = f"{len(self.query.known)} of {len(self.query.weights)} terms known"
        self.method = f"bm25: {known}" + (f", {dropped} left out" if dropped else "")


class DenseLeg(Leg):
    """Cosine of the query's vector, which is kept in `vector`, made by `embedder`."""

    vector: Vector | None = None
    embedder: Embedder | None = None

    async def run(self, reader: IndexReader, asked: Asked, exact_scan: int) -> None:
        assert self.vector is not None
        assert self.embedder is not None
        scope = asked.scope
        size = scope.chunks if scope else (await reader.size())[0]
        exact = size <= exact_scan
        self.found = await reader.dense(self.vector, self.embedder.space, scope, asked.depth, exact=exact)
        of = "chunks of the filter" if scope else "chunks"
        self.method = f"exact: {size} {of}" if exact else f"hnsw, iterative: {size} {of}, more than {exact_scan}"


class Legs:
    """Runs the legs of a search."""

    def __init__(self, store: SearchStore, vectors: QueryVectors, analyzer: Analyzer, limits: Limits) -> None:
        self.store, self.vectors, self.analyzer, self.limits = store, vectors, analyzer, limits

    async def lexical(self, asked: Asked) -> LexicalLeg:
        leg, seconds = LexicalLeg("lexical"), self.limits.lexical_seconds

        async def work() -> None:
            async with self._reading(asked, seconds) as reader:
                await leg.run(reader, asked, self.analyzer)

        await leg.within(seconds, work)
        return leg

    async def dense(self, asked: Asked) -> DenseLeg:
        """Without an answer where the model of the workspace's active space is configured no more."""
        leg, seconds = DenseLeg("dense"), self.limits.dense_seconds
        embedders = self.vectors.embedders
        leg.embedder = embedder = embedders.find(*asked.space) if asked.space else embedders.default
        if embedder is None:
            model, dims = asked.space or ("", 0)
            leg.error = f"the embedding model {model} ({dims} dimensions) is configured no more"
            return leg

        async def work() -> None:
            leg.vector = await self.vectors.of_query(asked.query, embedder)
            async with self._reading(asked, seconds) as reader:
                await leg.run(reader, asked, self.limits.exact_scan)

        await leg.within(seconds, work)
        return leg

    @asynccontextmanager
    async def _reading(self, asked: Asked, seconds: float) -> AsyncIterator[IndexReader]:
        if asked.snapshot is not None:
            yield asked.snapshot
            return
        async with self.store.reading(asked.workspace_id, seconds) as reader:
            yield reader
