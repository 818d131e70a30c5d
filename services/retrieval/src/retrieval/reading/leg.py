"""A leg of a search: one way to find chunks, and what it knows of those that other legs found.

A leg that is late or fails reports its error, and the search goes on without it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, TypeVar

import psycopg

from contracts.retrieval import SearchRequest
from inference.embedders import SpaceKey
from inference.errors import EmbeddingError, RerankError
from relevance.bm25 import Parameters
from retrieval.ranking.features import Columns, Feature
from retrieval.ranking.rule import RankingRule, runs
from retrieval.reading.reader import IndexReader, ScoredChunk
from retrieval.reading.scope import Scope
from retrieval.reading.snapshot import Snapshot
from retrieval.text.query import ParsedQuery
from service_kit.auth import Principal
from service_kit.problems import ServiceSilent, Unavailable

log = logging.getLogger(__name__)
Work = Callable[[], Awaitable[None]]
L = TypeVar("L", bound="Leg")
EXCLUDED = "excluded"
"""The column in which a leg marks candidates that must not be returned."""


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
    """One wording of a search, parsed, and the legs that search for it, in the order of the registry.

    `space` is the active embedding space, None if the workspace has none yet; `depth` is the number of chunks to find;
    `parameters` are those of BM25. Other services are queried on behalf of `caller`, and not at all without one.
    """

    snapshot: Snapshot
    request: SearchRequest
    query: ParsedQuery
    scope: Scope | None
    rule: RankingRule
    space: SpaceKey | None
    depth: int
    parameters: Parameters = field(default_factory=Parameters)
    caller: Principal | None = None
    legs: dict[type[Leg], Leg] = field(default_factory=dict)

    def leg(self, kind: type[L]) -> L | None:
        """Returns the leg of this kind, if the search has it."""
        found = self.legs.get(kind)
        return found if isinstance(found, kind) else None


@dataclass(eq=False)
class Timed:
    """A part of a search with a deadline, and what it found, best first. `error` is None if it succeeded in time."""

    name: str
    found: Sequence[ScoredChunk] = ()
    method: str | None = None
    error: str | None = None
    milliseconds: float = 0.0

    async def within(self, seconds: float, work: Work) -> None:
        """Runs the work; a failure or a missed deadline is recorded, not raised."""
        start = time.perf_counter()
        try:
            async with asyncio.timeout(seconds):
                await work()
        except (TimeoutError, psycopg.errors.QueryCanceled):
            self.found, self.error = (), f"not done within {seconds:g} s"
        except ServiceSilent as error:
            self.found, self.error = (), str(error)
        except (psycopg.Error, EmbeddingError, RerankError, Unavailable) as error:
            log.warning("leg failed", extra={"leg": self.name}, exc_info=error)
            self.found, self.error = (), f"{type(error).__name__}: the leg failed"
        self.milliseconds += 1000 * (time.perf_counter() - start)


class Leg(Timed, ABC):
    """A leg. The registered one is a template: each search works on a copy, so what `find` sets is the search's own.

    `kind` is its name in settings, reports and metrics; `columns` are the features that it adds to `hybrid`; `weight`
    is its weight in `rrf` and `convex` (None: it has no part in them); `score` is the column with its own score for any
    chunk. It begins when the legs that it `needs`, which are registered before it, are done. `every_wording`: it also
    searches for the further wordings of a query. `second`: the name of its second round, if it has one. `state` tells
    apart two states of a source outside the index, for the cache: empty without one, None if it changed meanwhile.

    What a leg does is bounded by what it reads (`asked.depth`, rows), so that the answer does not depend on who else is
    searching; the deadline `seconds` is the last resort.
    """

    kind: ClassVar[str]
    weight: ClassVar[float | None] = None
    columns: ClassVar[Sequence[Feature]] = ()
    score: ClassVar[str | None] = None
    needs: ClassVar[Sequence[type[Leg]]] = ()
    every_wording: ClassVar[bool] = False
    second: ClassVar[str | None] = None
    seconds: float
    leg_query: LegQuery
    done: asyncio.Event
    skipped: bool = False
    state: str | None = ""

    def __init__(self, seconds: float) -> None:
        super().__init__(self.kind)
        self.seconds = seconds

    def begin(self, leg_query: LegQuery, name: str) -> Self:
        """Returns the leg of one search, called `name` in its reports."""
        own = copy(self)
        own.name, own.leg_query, own.done = name, leg_query, asyncio.Event()
        return own

    async def ready(self) -> None:
        """Waits until the leg can begin."""
        for need in self.needs:
            await self.leg_query.legs[need].done.wait()

    @property
    def void(self) -> bool:
        """True if the leg says nothing of any chunk, because it failed."""
        return self.error is not None

    def applies(self, leg_query: LegQuery) -> bool:
        """Returns whether the leg is part of this search."""
        return runs(leg_query.rule.mode, self.kind)

    def required(self) -> bool:
        """Returns whether the query cannot be answered without this leg."""
        return False

    @abstractmethod
    async def find(self) -> None:
        """Sets `found`, and `method` for explanations; sets `skipped` if there is nothing to ask."""

    async def features(self, chunks: Sequence[int]) -> Columns:  # noqa: ARG002
        """Returns the leg's columns for chunks that any leg found, and EXCLUDED if it excludes some of them."""
        return {}

    def second_round(self, scores: Mapping[int, float]) -> Work | None:  # noqa: ARG002
        """Returns what to do with the scored candidates of all legs, if the leg goes on from them."""
        return None

    def answers(self, chunks: Sequence[int]) -> bool:  # noqa: ARG002
        """Returns whether the leg knows that one of these hits answers the query."""
        return False

    def shown(self, chunk: int) -> Mapping[str, Any]:  # noqa: ARG002
        """Returns fields of the chunk's hit."""
        return {}

    async def explain(self, reader: IndexReader, chunks: Sequence[int]) -> None:
        """Reads what `explanation` needs for these chunks, which are ranked best first."""

    def explanation(self, chunk: int) -> Mapping[str, list[Any]]:  # noqa: ARG002
        """Returns fields of the hit's explanation, for a request with `explain`."""
        return {}

    async def current_state(self, caller: Principal) -> str | None:  # noqa: ARG002
        """Returns the `state` that a search would find now, for the cache; None if the source does not respond."""
        return ""
