"""The index itself: the isolation of workspaces, and the approximate index of vectors."""

from __future__ import annotations

import random
from uuid import uuid4

import numpy as np
import psycopg
import pytest

from contracts.retrieval import SearchFilters
from inference.embeddings import EmbeddingSpace
from relevance.analysis import Analyzer
from retrieval.dense.nearest import Nearest
from retrieval.dense.plan import ScanPlan
from retrieval.reading.snapshot import SearchStore
from retrieval.search.filters import resolve
from retrieval.spaces.rows import ensure_vector_index

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "omega"]
ONE_ROW = ("indexed_document", "chunk", "chunk_vector", "recent_postings", "workspace_statistics", "workspace_stemming")
TABLES = (*ONE_ROW, "tombstone", "posting_block", "posting_group")


@pytest.fixture
def store(database):
    return SearchStore(database, 100)


def random_text(dice: random.Random) -> str:
    return " ".join([uuid4().hex, *dice.choices(WORDS, weights=range(1, len(WORDS) + 1), k=dice.randint(1, 40))])


async def test_without_a_workspace_no_row_can_be_read_or_written(database, index, converted, compaction, workspace_id):
    other = uuid4()
    await index(converted(["mine"]))
    await index(converted(["theirs"]), other)
    statement = "SELECT count(*) FROM {}"
    async with database.pool.connection() as connection:
        for table in TABLES:
            assert (await (await connection.execute(statement.format(table))).fetchone())[0] == 0
    async with database.workspace(workspace_id) as connection:
        for table in ONE_ROW:
            assert (await (await connection.execute(statement.format(table))).fetchone())[0] == 1
    while await compaction.fold(other):
        pass
    async with database.workspace(workspace_id) as connection:
        for table in ("posting_block", "posting_group"):
            assert (await (await connection.execute(statement.format(table))).fetchone())[0] == 0
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        async with database.workspace(workspace_id) as connection:
            await connection.execute("INSERT INTO tombstone VALUES (%s, %s)", (other, uuid4()))


async def test_hnsw_finds_the_results_of_the_exact_scan_with_and_without_a_filter(
    store, index, database, converted, workspace_id
):
    space = EmbeddingSpace("m'odel", 16, 256)
    async with database.system() as connection:
        name = await ensure_vector_index(connection, space.model, space.dims)
        assert await ensure_vector_index(connection, space.model, space.dims) == name
    dice = random.Random(5)
    few = [uuid4() for _ in range(3)]
    vectors = random_unit(600, 16, 5)
    for number, start in enumerate(range(0, 600, 20)):
        texts = [random_text(dice) for _ in range(20)]
        place = few[number] if number < 3 else uuid4()
        await index(converted(texts, document_id=place, vectors=vectors[start : start + 20], model=space.model))
    await index(converted(["another space"], vectors=random_unit(1, 8, 3), model="another"))
    await index(converted(["another model"], vectors=vectors[:1], model="another"))
    async with store.snapshot(workspace_id, 10) as snapshot:
        reader = snapshot.reader
        planned = ScanPlan(exact=False, most_compared=20_000, why="", candidates=120)
        for scope in (None, await resolve(snapshot, Analyzer(), SearchFilters(document_ids=few), {}, None, 10)):
            nearest = Nearest(reader, vectors[100], space, scope, 60)
            exact, near = await nearest.exact(602), await nearest.approximate(planned)
            assert len(near) == len(exact) == 60
            assert len({one.chunk for one in near} & {one.chunk for one in exact}) >= 57
            assert [one.score for one in near] == sorted((one.score for one in near), reverse=True)
    async with store.snapshot(workspace_id, 10) as snapshot:
        reader = snapshot.reader
        await reader.connection.execute("SET LOCAL enable_sort = off")
        await reader.connection.execute("SET LOCAL enable_seqscan = off")
        query = "EXPLAIN SELECT chunk FROM chunk_vector WHERE workspace_id = %s AND model = 'm''odel' "
        query += "AND vector_dims(embedding) = 16 ORDER BY embedding::halfvec(16) <=> %s::halfvec(16) LIMIT 10"
        plan = await reader.connection.execute(query, (workspace_id, str(vectors[0].tolist())))
        assert name in str(await plan.fetchall())


def random_unit(count: int, dims: int, seed: int):
    vectors = np.random.default_rng(seed).normal(size=(count, dims)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
