"""The index itself: BM25 against a reference, statistics under concurrency, the wall between workspaces."""

from __future__ import annotations

import asyncio
import math
import random
from collections import Counter
from uuid import uuid4

import numpy as np
import psycopg
import pytest

from inference.embeddings import EmbeddingSpace
from retrieval.index.writer import IndexWriter, ensure_vector_index
from retrieval.lexical.analysis import Analyzer
from retrieval.lexical.bm25 import weighted
from retrieval.search.snapshot import SearchStore

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "omega"]
TABLES = ("indexed_document", "tombstone", "chunk", "posting", "chunk_vector", "workspace_statistics")


@pytest.fixture
def store(database):
    return SearchStore(database, 100)


def reference(texts: list[str], query: list[str]) -> list[float]:
    """BM25 as the paper has it, of each text (already terms, separated by blanks)."""
    documents = [Counter(text.split()) for text in texts]
    average = sum(map(len, (text.split() for text in texts))) / len(texts)
    scores = [0.0] * len(texts)
    for term in query:
        having = sum(term in document for document in documents)
        idf = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
        for number, document in enumerate(documents):
            length = document.total()
            norm = 1.2 * (1 - 0.75 + 0.75 * length / average)
            scores[number] += idf * document[term] / (document[term] + norm) if document[term] else 0.0
    return scores


async def scores_of(store, workspace_id, query: list[str]) -> dict[str, float]:
    async with store.snapshot(workspace_id, 10) as snapshot:
        reader = snapshot.reader
        chunks, terms = await reader.size()
        weights = weighted(query, await reader.frequencies(query), chunks, terms)
        found = await reader.lexical(weights, None, 1000)
        contents = await reader.chunks([one.chunk for one in found])
        by_terms = await reader.terms_of([one.chunk for one in found], weights.terms)
        for one in found:
            assert weights.score(by_terms[one.chunk]) == pytest.approx(one.score)
            assert 0 < weights.share(one.score) < 1
    return {contents[one.chunk].content: one.score for one in found}


def stemmed(text: str) -> str:
    return " ".join(Analyzer().terms(text))


async def compare(store, workspace_id, texts: list[str], dice: random.Random) -> None:
    for _ in range(5):
        query = Analyzer().terms(" ".join(dice.choices(WORDS, k=4)))
        found = await scores_of(store, workspace_id, query)
        expected = dict(zip(texts, reference([stemmed(text) for text in texts], query), strict=True))
        assert found == pytest.approx({text: score for text, score in expected.items() if score > 0})


def random_text(dice: random.Random) -> str:
    return " ".join([uuid4().hex, *dice.choices(WORDS, weights=range(1, len(WORDS) + 1), k=dice.randint(1, 40))])


@pytest.mark.parametrize("seed", range(3))
async def test_bm25_equals_the_reference_after_inserts_changes_and_deletes(
    store, index, database, converted, workspace_id, seed
):
    dice = random.Random(seed)
    documents = {uuid4(): [random_text(dice) for _ in range(dice.randint(1, 4))] for _ in range(25)}

    async def write(document_id, version: int) -> None:
        texts = documents[document_id]
        await index(converted(texts, document_id=document_id, version=version, title="", name="_"))

    for document_id in documents:
        await write(document_id, 1)
    for document_id in dice.sample(list(documents), 8):
        documents[document_id] = [random_text(dice) for _ in range(dice.randint(0, 4))]
        await write(document_id, 2)
    for document_id in dice.sample(list(documents), 6):
        async with database.workspace(workspace_id) as connection:
            removed, remaining = await IndexWriter(connection, workspace_id, Analyzer()).purge(document_id)
        assert removed.chunks == len(documents.pop(document_id))
        assert not any(remaining.values())
    await compare(store, workspace_id, [text for texts in documents.values() for text in texts], dice)


async def test_indexers_at_the_same_time_lose_nothing(store, index, converted, workspace_id):
    dice = random.Random(11)
    same = uuid4()
    documents = [[random_text(dice) for _ in range(3)] for _ in range(20)]
    versions = [[random_text(dice)] for _ in range(6)]
    await asyncio.gather(
        *(index(converted(texts, title="", name="_")) for texts in documents),
        *(
            index(converted(texts, document_id=same, version=version, title="", name="_"))
            for version, texts in enumerate(versions)
        ),
    )
    await compare(store, workspace_id, [text for texts in [*documents, versions[-1]] for text in texts], dice)


async def test_without_a_workspace_nothing_is_seen_and_nothing_can_be_written(database, index, converted, workspace_id):
    other = uuid4()
    await index(converted(["mine"]))
    await index(converted(["theirs"]), other)
    statement = "SELECT count(*) FROM {}"
    async with database.pool.connection() as connection:
        for table in TABLES:
            assert (await (await connection.execute(statement.format(table))).fetchone())[0] == 0
    async with database.workspace(workspace_id) as connection:
        for table in ("indexed_document", "chunk", "chunk_vector", "workspace_statistics"):
            assert (await (await connection.execute(statement.format(table))).fetchone())[0] == 1
        assert (await (await connection.execute("SELECT DISTINCT workspace_id FROM posting")).fetchall()) == [
            (workspace_id,)
        ]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        async with database.workspace(workspace_id) as connection:
            await connection.execute("INSERT INTO tombstone VALUES (%s, %s)", (other, uuid4()))


async def test_hnsw_finds_what_the_exact_scan_finds_also_behind_a_filter(
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
        await reader.connection.execute("SET LOCAL enable_sort = off")
        for scope in (None, await reader.scope(few, None)):
            exact = await reader.dense(vectors[100], space, scope, 60, exact=True)
            near = await reader.dense(vectors[100], space, scope, 60, exact=False)
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
