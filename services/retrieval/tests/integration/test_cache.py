"""Repeated searches are answered from Redis, and never with a stale answer."""

from __future__ import annotations

import asyncio
import random
import re
from uuid import uuid4

import pytest
from prometheus_client import CollectorRegistry
from redis.asyncio import Redis
from redis.exceptions import RedisError

from contracts.events import (
    DocumentDescribed,
    DocumentIndexed,
    DocumentPurged,
    WorkspaceDeleted,
    WorkspacePurged,
)
from contracts.retrieval import LegReport, SearchMode, SearchRequest, SearchResponse
from retrieval.app import create_app
from retrieval.reading.snapshot import SearchStore
from retrieval.search import cache as caching
from retrieval.search.cache import CacheSlot, SearchCache, version_of

LEXICAL = SearchMode.lexical.value


def answer(**more) -> SearchResponse:
    values = {"query": "x", "mode": SearchMode.lexical, "hits": [], "good_match": False, "match": 0.0}
    legs = [LegReport(leg="lexical", candidates=0, milliseconds=1.0)]
    return SearchResponse(**values | {"legs": legs, "milliseconds": 1.0} | more)


@pytest.fixture
async def keep(redis_url):
    """A cache on an empty server."""
    async with Redis.from_url(redis_url) as redis:
        yield SearchCache(redis, "v1", 60, CollectorRegistry())


def slot_of(workspace_id, generation: int = 1, name: str = "a") -> CacheSlot:
    return CacheSlot(workspace_id, generation, f"retrieval:searches:{workspace_id}:{name}")


async def counted(client) -> dict[str, float]:
    """Returns attractor_search_cache_total by result."""
    text = (await client.get("/metrics")).text
    return {result: float(value) for result, value in re.findall(r'search_cache_total\{result="(\w+)"\} (\S+)', text)}


async def test_a_repeated_search_is_answered_from_the_cache(ingestion, search, converted, client):
    await ingestion.convert(converted(["The port is 8080.", "Another port."]))
    await ingestion.drained()
    first = await search("port", mode=LEXICAL)
    second = await search("port", mode=LEXICAL, k=10)
    assert (first["cached"], second["cached"]) == (False, True)
    assert second["hits"] == first["hits"]
    assert len(second["hits"]) == 2
    for other in ({"k": 1}, {"fold_duplicates": False}, {"tags": ["x"]}, {"queries": ["gate"]}):
        assert (await search("port", mode=LEXICAL, **other))["cached"] is False
    assert (await search("port", workspace_id=uuid4(), mode=LEXICAL))["hits"] == []
    for _ in range(2):
        assert (await search("port", mode=LEXICAL, explain=True))["cached"] is False
    assert await counted(client) == {"miss": 6, "hit": 1, "bypass": 2, "failed": 0}


async def test_no_sequence_of_changes_gives_a_stale_result(ingestion, search, converted):
    """Applies random changes, each followed by searches with and without the cache."""
    dice, documents, hits = random.Random(5), {}, 0
    queries = [{"query": "port"}, {"query": "port", "tags": ["red"]}, {"query": "gate", "k": 3}]

    async def change() -> None:
        kind = dice.choice(["new", "version", "describe", "delete"]) if documents else "new"
        document = dice.choice(list(documents.values())) if documents else None
        if kind == "new":
            document = converted([f"The port {dice.random()}.", f"A gate {dice.random()}."], tags=["blue"])
        elif kind == "version":
            texts = [f"The port {dice.random()} is new.", f"A gate {dice.random()}."]
            data = document.data
            document = converted(texts, document_id=data.document_id, version=data.version + 1, tags=["red"])
        elif kind == "describe":
            data = document.data
            described = {name: getattr(data, name) for name in DocumentDescribed.model_fields}
            await ingestion.send(DocumentDescribed(**described | {"tags": [dice.choice(["red", "blue"])]}))
            return
        else:
            del documents[document.data.document_id]
            await ingestion.delete(document)
            return
        documents[document.data.document_id] = document
        await ingestion.convert(document)

    for _ in range(25):
        await change()
        await ingestion.drained()
        for _ in range(2):
            for query in queries:
                kept = await search(**query, mode=LEXICAL)
                fresh = await search(**query, mode=LEXICAL, explain=True)
                hits += kept["cached"]
                assert [hit["chunk_id"] for hit in kept["hits"]] == [hit["chunk_id"] for hit in fresh["hits"]]
                assert [hit["content"] for hit in kept["hits"]] == [hit["content"] for hit in fresh["hits"]]
    assert hits >= 75


async def test_deleted_documents_are_not_found_once_the_deletion_has_ended(ingestion, search, converted):
    """Searches continuously while documents are deleted."""
    documents = [converted([f"The port {number} is open."]) for number in range(6)]
    for document in documents:
        await ingestion.convert(document)
    await ingestion.wait_for(DocumentIndexed, 6)
    gone: set[str] = set()
    ended = asyncio.Event()

    async def searching() -> None:
        while not ended.is_set():
            gone_before = set(gone)
            found = {hit["document_id"] for hit in (await search("port open", mode=LEXICAL))["hits"]}
            assert not found & gone_before

    searchers = [asyncio.create_task(searching()) for _ in range(3)]
    for count, document in enumerate(documents, 1):
        await ingestion.delete(document)
        await ingestion.wait_for(DocumentPurged, count)
        gone.add(str(document.data.document_id))
    ended.set()
    await asyncio.gather(*searchers)
    assert (await search("port open", mode=LEXICAL))["hits"] == []


async def test_a_deletion_removes_cached_results_and_its_receipt_counts_them(ingestion, search, converted, redis):
    document = converted(["A secret port."])
    await ingestion.convert(document)
    await ingestion.wait_for(DocumentIndexed, 1)
    for k in (1, 2):
        await search("secret", mode=LEXICAL, k=k)
    await ingestion.delete(document)
    (purged,) = await ingestion.wait_for(DocumentPurged, 1)
    assert (purged.removed["cached_searches"], purged.remaining["cached_searches"]) == (2, 0)
    assert [key async for key in redis.scan_iter("retrieval:searches:*")] == []


async def test_cached_results_are_deleted_with_their_workspace(ingestion, search):
    await search("anything", mode=LEXICAL)
    await ingestion.send(WorkspaceDeleted())
    (purged,) = await ingestion.wait_for(WorkspacePurged, 1)
    assert (purged.removed["cached_searches"], purged.remaining["cached_searches"]) == (1, 0)


async def test_a_different_space_or_version_has_a_different_cache_key(database, keep, workspace_id):
    async def key(request: SearchRequest, *of: object, **more: object) -> str:
        async with SearchStore(database, 100).snapshot(workspace_id, 5) as snapshot:
            found = keep.place(workspace_id, snapshot.state, request, *of, **more)
        assert found is not None
        return found.key

    request = SearchRequest(query="x")
    first = await key(request)
    assert await key(SearchRequest(query="x", k=10)) == first
    documents = [uuid4(), uuid4()]
    limited = [await key(request, some) for some in ([], documents[:1], documents)]
    assert len({first, *limited, await key(request, with_graph=True)}) == 5
    assert await key(request, documents[::-1]) == limited[-1]
    keep.version = "v2"
    assert await key(request) != first
    keep.version = "v1"
    async with database.workspace(workspace_id) as connection:
        await connection.execute(
            "INSERT INTO embedding_space (workspace_id, id, model, dims, status) VALUES (%s, 'a', 'm', 8, 'active')",
            (workspace_id,),
        )
    assert await key(request) != first
    assert version_of("{}") == version_of("{}") != version_of('{"a": 1}')


async def test_partial_results_are_not_cached(keep, workspace_id):
    failed = LegReport(leg="rerank", candidates=0, milliseconds=1.0, error="late")
    await keep.put(slot_of(workspace_id), answer(legs=[failed]))
    assert await keep.get(slot_of(workspace_id)) is None
    await keep.put(slot_of(workspace_id), answer())
    kept = await keep.get(slot_of(workspace_id))
    assert kept == answer(cached=True)


async def test_a_search_does_not_wait_until_its_answer_is_cached_but_the_next_one_and_a_deletion_do(
    keep, workspace_id, monkeypatch
):
    keeping, may_write = keep.keeping, asyncio.Event()

    async def slow(**call):
        await may_write.wait()
        return await keeping(**call)

    monkeypatch.setattr(keep, "keeping", slow)
    keep.put_soon(slot_of(workspace_id), answer())
    asyncio.get_running_loop().call_soon(may_write.set)
    assert await keep.get(slot_of(workspace_id)) == answer(cached=True)
    may_write.clear()
    keep.put_soon(slot_of(workspace_id, name="b"), answer())
    asyncio.get_running_loop().call_soon(may_write.set)
    assert (await keep.delete(workspace_id)).removed == {"cached_searches": 2}


async def test_a_search_overtaken_by_a_change_is_not_cached(keep, workspace_id):
    await keep.put(slot_of(workspace_id, 3), answer())
    erased = await keep.delete(workspace_id, 4)
    assert (erased.removed, erased.remaining) == ({"cached_searches": 1}, {"cached_searches": 0})
    await keep.put(slot_of(workspace_id, 3), answer())
    assert await keep.get(slot_of(workspace_id, 3)) is None
    await keep.put(slot_of(workspace_id, 4, "b"), answer())
    assert await keep.get(slot_of(workspace_id, 4, "b")) is not None
    await keep.delete(workspace_id)
    await keep.put(slot_of(workspace_id, 9, "c"), answer())
    assert await keep.get(slot_of(workspace_id, 9, "c")) is None


async def test_the_cache_is_bounded(keep, workspace_id, monkeypatch):
    monkeypatch.setattr(caching, "MOST_ANSWERS", 3)
    for number in range(5):
        await keep.put(slot_of(workspace_id, name=str(number)), answer())
        await asyncio.sleep(0.002)  # they are evicted by expiry, in milliseconds
    kept = [await keep.get(slot_of(workspace_id, name=str(number))) is not None for number in range(5)]
    assert kept == [False, False, True, True, True]
    monkeypatch.setattr(caching, "MOST_BYTES", 10)
    await keep.put(slot_of(workspace_id, name="large"), answer())
    assert await keep.get(slot_of(workspace_id, name="large")) is None


async def test_a_search_works_without_redis(workspace_id):
    async with Redis.from_url("redis://127.0.0.1:9") as away:
        cache = SearchCache(away, "v1", 60, CollectorRegistry())
        for _ in range(2):
            assert await cache.get(slot_of(workspace_id)) is None
            await cache.put(slot_of(workspace_id), answer())
        assert cache.results.labels("failed")._value.get() == 4
        with pytest.raises((RedisError, OSError)):
            await cache.delete(workspace_id)


async def test_the_cache_can_be_disabled(make_settings, running, object_store, auth_headers):  # noqa: ARG001
    async with running(create_app(make_settings(search_cache="off"))) as client:
        for _ in range(2):
            found = await client.post("/v1/search", json={"query": "x", "mode": LEXICAL}, headers=auth_headers())
            assert found.json()["cached"] is False
