"""Caches search answers in Redis. A stale answer is never found: its key has the state of the index that it is from.

The state is read in the search's own snapshot. Everything that could change an answer either raises the index's
generation in the same transaction, or is part of `version`: the code, the ranking's data and the settings of the
deployment. The graph reports a generation of its own, which is kept with the answer and compared when it is found.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import zlib
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from importlib import resources
from typing import TypeVar
from uuid import UUID

from prometheus_client import CollectorRegistry
from redis.asyncio import Redis

from contracts.retrieval import SearchRequest, SearchResponse
from retrieval.reading.state import IndexState
from service_kit.code_digest import code_digest
from service_kit.optional_redis import OptionalRedis, RedisUnavailable
from service_kit.readings import counter
from service_kit.workspace_purge import Erased

T = TypeVar("T")
log = logging.getLogger(__name__)
MOST_BYTES = 128 * 1024  # per answer, compressed
MOST_ANSWERS = 500  # per workspace; those that expire first are evicted
REMEMBER_MILLISECONDS = 10 * 60 * 1000  # how long a deletion is remembered: longer than any search takes
LAST_GENERATION = 2**53 - 1
KIND = "cached_searches"


@dataclass(frozen=True)
class CacheSlot:
    """The place of one request's answer for one state of the index."""

    workspace_id: UUID
    generation: int
    key: str


class SearchCache:
    """Answers that all replicas of the same `version` share. Searches go on without it when Redis is unavailable."""

    def __init__(self, redis: Redis, version: str, seconds: float, registry: CollectorRegistry) -> None:
        """`redis` returns bytes; `seconds` is how long an answer is kept."""
        self.redis, self.version, self.seconds = redis, version, seconds
        folder = resources.files("retrieval").joinpath("lua")
        self.keeping = redis.register_script(folder.joinpath("keep_search.lua").read_text("utf-8"))
        self.deleting = redis.register_script(folder.joinpath("forget_searches.lua").read_text("utf-8"))
        self.optional = OptionalRedis()
        self.writing: dict[str, asyncio.Task[None]] = {}
        self.results = counter(
            "attractor_search_cache_total",
            "Searches by cache result: hit, miss, bypass (not cacheable), failed (Redis unavailable)",
            registry,
            result=("hit", "miss", "bypass", "failed"),
        )

    def place(
        self,
        workspace_id: UUID,
        state: IndexState,
        request: SearchRequest,
        attached: Collection[UUID] | None = None,
        *,
        with_graph: bool = False,
    ) -> CacheSlot | None:
        """Returns the slot of an answer; None for a request with `explain`, which is not cached.

        `attached` are the documents that the search is limited to in addition to its filters; `with_graph` tells
        whether there is a caller to query the graph for.
        """
        if request.explain:
            self.results.labels("bypass").inc()
            return None
        limited = None if attached is None else sorted(map(str, attached))
        request_json = request.model_dump_json(exclude_defaults=True)
        parts = json.dumps([self.version, *state.version, limited, with_graph, request_json])
        digest = hashlib.sha256(parts.encode()).hexdigest()
        return CacheSlot(workspace_id, state.generation or 0, f"{_answers(workspace_id)}:{digest}")

    async def get(
        self, place: CacheSlot, is_current: Callable[[str], Awaitable[bool]] | None = None
    ) -> SearchResponse | None:
        """Returns the answer, marked as cached; None if there is none.

        `is_current` is asked about the generation of the graph that the answer is from, if it is from the graph.
        """
        if place.key in self.writing:
            await asyncio.wait([self.writing[place.key]])
        try:
            kept = await self._ask(lambda: self.redis.get(place.key))
        except RedisUnavailable:
            return None
        graph, _, body = zlib.decompress(kept).partition(b"\n") if isinstance(kept, bytes) else (b"", b"", b"")
        is_hit = body != b"" and (not graph or (is_current is not None and await is_current(graph.decode())))
        self.results.labels("hit" if is_hit else "miss").inc()
        return SearchResponse.model_validate_json(body) if is_hit else None

    def put_soon(self, place: CacheSlot, response: SearchResponse, graph: str | None = "") -> None:
        """Begins to `put` the answer, for which its caller need not wait."""
        self.writing[place.key] = task = asyncio.create_task(self.put(place, response, graph))
        task.add_done_callback(lambda _: self.writing.pop(place.key, None))

    async def put(self, place: CacheSlot, response: SearchResponse, graph: str | None = "") -> None:
        """Stores the answer, unless a part of it failed or was late, or it is too large.

        `graph` is the generation of the graph that it is from, empty if it is not from the graph, None if it is of more
        than one: then it is not stored.
        """
        if graph is None or any(leg.error is not None for leg in response.legs):
            return
        body = f"{graph}\n{response.model_copy(update={'cached': True}).model_dump_json()}"
        kept = await asyncio.to_thread(zlib.compress, body.encode(), 1)
        if len(kept) > MOST_BYTES:
            return
        keys = [place.key, _answers(place.workspace_id), _least(place.workspace_id)]
        with suppress(RedisUnavailable):
            arguments = (place.generation, kept, int(1000 * self.seconds), MOST_ANSWERS)
            await self._ask(lambda: self.keeping(keys=keys, args=arguments))

    async def delete(self, workspace_id: UUID, generation: int = LAST_GENERATION) -> Erased:
        """Deletes the workspace's answers, and keeps searches that still run on an older index from storing any.

        Raises RedisError.
        """
        if self.writing:
            await asyncio.wait(self.writing.values())
        keys = [_answers(workspace_id), _least(workspace_id)]
        removed, left = await self.deleting(keys=keys, args=[generation, REMEMBER_MILLISECONDS])
        return Erased({KIND: int(removed)}, {KIND: int(left)})

    async def _ask(self, call: Callable[[], Awaitable[T]]) -> T:
        """Calls Redis, and counts failures. Raises RedisUnavailable."""
        try:
            return await self.optional.ask(call)
        except RedisUnavailable as error:
            self.results.labels("failed").inc()
            if error.__cause__ is not None:
                log.warning("searches are not cached: Redis is unavailable", extra={"error": repr(error.__cause__)})
            raise


def version_of(settings_json: str) -> str:
    """Returns a digest of the code and data that determine an answer, and of the deployment's settings."""
    return code_digest(settings_json, "retrieval", "relevance", "inference", "contracts")


def _answers(workspace_id: UUID) -> str:
    return f"retrieval:searches:{workspace_id}"


def _least(workspace_id: UUID) -> str:
    return f"retrieval:searches-from:{workspace_id}"
