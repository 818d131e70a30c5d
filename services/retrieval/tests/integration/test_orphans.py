"""Documents deleted out of band: their remains are deleted, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from prometheus_client import CollectorRegistry

from contracts.events import DocumentIndexed
from retrieval.index import orphans as orphans_module
from retrieval.index.blocks import PostingRows
from retrieval.index.groups import GroupRows
from retrieval.index.orphans import OrphanRemoval
from retrieval.lexical.postings import ORDINAL_BITS
from retrieval.spaces.rows import SpaceRows

ROWS = ("indexed_document", "chunk", "chunk_vector")


@pytest.fixture
def strays(database):
    return OrphanRemoval(database, CollectorRegistry())


@pytest.fixture
async def documents(ingestion, converted, compaction):
    """Six documents of two passages; the postings of four of them are folded."""
    made = [
        await ingestion.embedded(
            converted([f"common alpha{at}", f"common beta{at}"], name=f"paper{at}.md", title=title)
        )
        for at, title in enumerate(["Red", "Green", None, "Blue", "Black", "White"])
    ]
    for document in made[:4]:
        await ingestion.convert(document)
    await ingestion.wait_for(DocumentIndexed, 4)
    await compaction.work_off()
    for document in made[4:]:
        await ingestion.convert(document)
    await ingestion.wait_for(DocumentIndexed, 6)
    return made


@pytest.fixture
def numbers(database, workspace_id):
    """await numbers(statement): the column that it returns in the workspace."""

    async def read(statement: str, *values: object) -> list[int]:
        async with database.workspace(workspace_id) as connection:
            return [row[0] for row in await (await connection.execute(statement, values)).fetchall()]

    return read


@pytest.fixture
def lose(database, workspace_id):
    """await lose(documents): deletes their rows past the service, and returns their numbers."""

    async def delete(documents) -> list[int]:
        ids = [document.data.document_id for document in documents]
        async with database.workspace(workspace_id) as connection:
            cursor = await connection.execute(
                "DELETE FROM indexed_document WHERE document_id = ANY (%s) RETURNING number", (ids,)
            )
            return [row[0] for row in await cursor.fetchall()]

    return delete


@pytest.fixture
def postings(database, workspace_id):
    """await postings(): how many there are by document, in rows of any kind."""

    async def count() -> dict[int, int]:
        every = np.array([0, (1 << 43) - 1])
        found: list[int] = []
        async with database.workspace(workspace_id) as connection:
            rows = PostingRows(connection, workspace_id)
            terms = await rows.every_term()
            async for blocks in rows.touched(terms, every):
                found += [chunk for block in blocks for chunk in block.postings.chunks.tolist()]
            async for groups in GroupRows(rows).touched(terms):
                found += [chunk for group in groups for chunk in group.terms.all_postings.chunks.tolist()]
            for row in await rows.oldest_recent(1 << 30):
                found += row.terms.all_postings.chunks.tolist()
        documents, counts = np.unique(np.array(found) >> ORDINAL_BITS, return_counts=True)
        return dict(zip(documents.tolist(), counts.tolist(), strict=True))

    return count


async def test_remnants_of_deleted_rows_are_removed(
    strays, documents, numbers, lose, postings, search, workspace_id, database, caplog
):
    before = await postings()
    lost = await lose([documents[1], documents[2], documents[5]])
    assert len((await search("common"))["hits"]) == 6
    assert await strays.round() == 6
    assert strays.removed.collect()[0].samples[0].value == 6
    assert "deleted orphaned chunks" in caplog.text
    assert [len(await numbers(f"SELECT 1 FROM {table}")) for table in ROWS] == [3, 6, 6]
    assert await postings() == {number: count for number, count in before.items() if number not in lost}

    statistics = "SELECT {} FROM workspace_statistics"
    assert await numbers(statistics.format("chunks")) == [6]
    assert await numbers(statistics.format("terms")) == await numbers(
        "SELECT sum(term_count)::bigint FROM indexed_document"
    )
    assert await numbers("SELECT sum(documents)::bigint FROM workspace_stemming") == [3]
    async with database.workspace(workspace_id) as connection:
        rows = SpaceRows(connection, workspace_id)
        active = await rows.active()
        assert await rows.is_complete(active.key)
    assert {hit["document_name"] for hit in (await search("common"))["hits"]} == {"paper0.md", "paper3.md", "paper4.md"}
    assert (await search("alpha1", mode="lexical"))["hits"] == []
    assert await strays.round() == 0


async def test_cleanup_rounds_are_short_and_reach_every_document(strays, documents, lose, numbers, monkeypatch):
    monkeypatch.setattr(orphans_module, "LOOKED_AT", 2)
    monkeypatch.setattr(orphans_module, "MOST_REMOVED", 1)
    await lose([documents[0], documents[1], documents[5]])
    assert [await strays.round() for _ in range(6)] == [2, 2, 0, 2, 0, 0]
    assert len(await numbers("SELECT 1 FROM chunk")) == 6


async def test_two_replicas_count_an_orphan_once(strays, documents, lose, numbers, workspace_id):
    lost = await lose(documents[:1])
    assert await strays._remove(workspace_id, lost) == 2
    assert await strays._remove(workspace_id, lost) == 0
    assert await numbers("SELECT chunks FROM workspace_statistics") == [10]
