"""A search sees one state of the index, whatever is written meanwhile and however few connections there are."""

from __future__ import annotations

import asyncio
import random
from uuid import UUID

import psycopg
import pytest

from contracts.retrieval import Hit, SearchMode, SearchRequest
from inference.embedders import Embedders
from relevance.analysis import Analyzer
from retrieval.dense.query_vectors import QueryVectors
from retrieval.index.writer import IndexWriter
from retrieval.reading.leg import SearchLimits
from retrieval.reading.snapshot import SearchStore
from retrieval.search.legs import Legs
from retrieval.search.search import Search
from service_kit.postgres import Database
from service_kit.problems import Unavailable

PATIENT = SearchLimits(30, 30)
MODES = (SearchMode.hybrid, SearchMode.rrf, SearchMode.lexical, SearchMode.dense)


@pytest.fixture
def searching(embedder):
    """searching(database): a search on it."""

    def build(database: Database) -> Search:
        analyzer = Analyzer()
        return Search(Legs(SearchStore(database, 100), QueryVectors(Embedders(embedder)), analyzer, PATIENT), analyzer)

    return build


@pytest.fixture
def remove(database, workspace_id):
    """await remove(document_id): deletes it as the purge does."""

    async def run(document_id: UUID) -> None:
        async with database.workspace(workspace_id) as connection:
            writer = IndexWriter(connection, workspace_id, Analyzer())
            await writer.lock(document_id)
            await writer.purge_all([document_id])

    return run


async def test_200_searches_during_changes_see_exactly_the_new_or_the_old_version(
    searching, index, remove, database, converted, workspace_id
):
    """Detects mixtures: all passages of a document name its version."""
    search, dice = searching(database), random.Random(3)
    documents = [converted(passages(number, 0)).data.document_id for number in range(4)]
    written = dict.fromkeys(documents, 0)  # by document, the version that has been committed
    begun = dict.fromkeys(documents, 0)  # and the one that may have been
    gone: set[UUID] = set()
    for number, document_id in enumerate(documents):
        await index(converted(passages(number, 0), document_id=document_id))
    done = asyncio.Event()

    async def write() -> None:
        version = 0
        while not done.is_set():
            version += 1
            for number, document_id in enumerate(documents[:3]):
                begun[document_id] = version
                await index(converted(passages(number, version), document_id=document_id, version=version + 1))
                written[document_id] = version
            if version == 3:
                await remove(documents[3])
                gone.add(documents[3])

    async def ask() -> None:
        least, deleted = dict(written), set(gone)
        request = SearchRequest(query="harbour version passage", mode=dice.choice(MODES), k=50, fold_duplicates=False)
        seen = versions((await search(workspace_id, request)).hits)
        assert not deleted & set(seen)
        for document_id in documents[:3]:
            assert len(seen[document_id]) == 3
            assert min(seen[document_id]) == max(seen[document_id])
            assert least[document_id] <= seen[document_id][0] <= begun[document_id]

    async def ask_some() -> None:
        for _ in range(25):
            await ask()

    writing = asyncio.create_task(write())
    try:
        await asyncio.gather(*(ask_some() for _ in range(8)))
    finally:
        done.set()
        await writing
    assert gone
    assert min(written.values()) < max(written.values())


def passages(document: int, version: int) -> list[str]:
    return [f"The harbour passage {part} of {document} in version {version}" for part in range(3)]


def versions(hits: list[Hit]) -> dict[UUID, list[int]]:
    """Returns by document the versions that its passages name."""
    found: dict[UUID, list[int]] = {}
    for hit in hits:
        found.setdefault(hit.document_id, []).append(int(hit.content.split()[-1]))
    return found


async def test_many_searches_on_few_connections_all_complete(searching, index, urls, converted, workspace_id):
    for number in range(20):
        await index(converted([f"harbour number {number}"]))
    request = SearchRequest(query="harbour", queries=["a port", "ships"], k=5)
    for size in (1, 2, 4):
        async with Database(urls.service, size).opened() as few, asyncio.timeout(180):
            search = searching(few)
            answers = await asyncio.gather(*(search(workspace_id, request) for _ in range(16)))
        assert all(len(answer.hits) == 5 for answer in answers)
        assert not [leg.error for answer in answers for leg in answer.legs if leg.error]


async def test_parallel_legs_share_the_snapshot_and_fail_individually(
    database, index, remove, converted, workspace_id, monkeypatch
):
    document = converted(["harbour"])
    monkeypatch.setattr("retrieval.reading.snapshot.MANY_CHUNKS", 1)
    await index(document)
    store, count = SearchStore(database, 100), "SELECT count(*) FROM chunk"
    async with store.snapshot(workspace_id, 5) as snapshot:
        await remove(document.data.document_id)
        async with snapshot.beside() as alone:
            assert alone.connection is snapshot.reader.connection
        async with snapshot.own(), snapshot.beside() as further:
            assert further.connection is not snapshot.reader.connection
            assert await (await further.connection.execute(count)).fetchone() == (1,)
        with pytest.raises(psycopg.errors.DivisionByZero):
            async with snapshot.own() as own:
                await own.connection.execute("SELECT 1 / 0")
        with pytest.raises(TimeoutError):
            async with snapshot.own() as own, asyncio.timeout(0.05):
                await own.connection.execute("SELECT pg_sleep(5)")
        async with snapshot.own() as own:
            assert await (await own.connection.execute(count)).fetchone() == (1,)
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            async with snapshot.own() as own:
                await own.connection.execute("DELETE FROM chunk")
    async with store.snapshot(workspace_id, 5) as later:
        assert await (await later.reader.connection.execute(count)).fetchone() == (0,)


async def test_a_search_that_gets_no_connection_in_time_is_told_to_retry(database, workspace_id, monkeypatch):
    monkeypatch.setattr("retrieval.reading.snapshot.QUEUE_SECONDS", 0.05)
    store = SearchStore(database, 100)
    async with asyncio.timeout(180):
        while not store.free.locked():
            await store.free.acquire()
        with pytest.raises(Unavailable):
            async with store.snapshot(workspace_id, 5):
                pass
