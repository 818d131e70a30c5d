"""A leg of a search: its query, its result and its deadline. A failed leg reports its error, and the search goes on."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import psycopg

from inference.embedders import SpaceKey
from inference.errors import EmbeddingError, RerankError
from relevance.bm25 import Parameters
from retrieval.reading.reader import ScoredChunk
from retrieval.reading.scope import Scope
from retrieval.reading.snapshot import Snapshot
from retrieval.text.query import ParsedQuery
from service_kit.problems import ServiceSilent, Unavailable

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SearchLimits:
    """Limits of the legs; deadlines are in seconds.

    Up to `exact_scan` vectors are always compared one by one. Beyond that the cheaper way is chosen: visiting a vector
    in HNSW costs as much as `hnsw_tuple_cost` comparisons. Up to `posting_bytes` of decoded postings stay in memory.
    """

    lexical_seconds: float = 2.0
    dense_seconds: float = 3.0
    exact_scan: int = 5_000
    hnsw_tuple_cost: float = 20.0
    posting_bytes: int = 64 << 20


@dataclass(frozen=True)
class LegQuery:
    """The query of each leg. `space` is the active embedding space, None if the workspace has none yet; `depth` is the
    number of chunks to find; `parameters` are those of BM25.
    """

    snapshot: Snapshot
    query: ParsedQuery
    scope: Scope | None
    space: SpaceKey | None
    depth: int
    parameters: Parameters = field(default_factory=Parameters)


@dataclass
class Leg:
    """The result of a leg. `error` is None if it succeeded in time."""

    name: str
    found: list[ScoredChunk] = field(default_factory=list)
    method: str | None = None
    error: str | None = None
    milliseconds: float = 0.0

    @property
    def candidates(self) -> list[ScoredChunk]:
        """Returns all chunks that the leg found, best first."""
        return self.found

    async def within(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        """Runs the work; a failure or a missed deadline is recorded, not raised."""
        start = time.perf_counter()
        try:
            async with asyncio.timeout(seconds):
                await work()
        except (TimeoutError, psycopg.errors.QueryCanceled):
            self.found, self.error = [], f"not done within {seconds:g} s"
        except ServiceSilent as error:
            self.found, self.error = [], str(error)
        except (psycopg.Error, EmbeddingError, RerankError, Unavailable) as error:
            log.warning("leg failed", extra={"leg": self.name}, exc_info=error)
            self.found, self.error = [], f"{type(error).__name__}: the leg failed"
        self.milliseconds = 1000 * (time.perf_counter() - start)
