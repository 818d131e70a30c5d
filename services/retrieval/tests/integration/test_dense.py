"""The dense leg: exact or approximate, with the reason; it never finds too few because of others' vectors."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID, uuid4

import numpy as np
import pytest

from contracts.retrieval import SearchRequest
from inference.embedders import Embedders
from inference.embeddings import EmbeddingSpace
from retrieval.dense.leg import DenseLeg
from retrieval.dense.query_vectors import QueryVectors
from retrieval.ranking.features import Registry, SpaceWeights
from retrieval.ranking.rule import RankingRule
from retrieval.reading.leg import LegQuery, SearchLimits
from retrieval.reading.snapshot import SearchStore
from retrieval.reading.vectors import vector_array
from retrieval.search.filters import Scope
from retrieval.spaces.rows import ensure_vector_index
from retrieval.text.query import parse

SPACE = EmbeddingSpace("test", 16, 256)
RULE = RankingRule(Registry([], {}), SpaceWeights({}), {})
PER_DOCUMENT = 20
CHEAP = SearchLimits(exact_scan=0, hnsw_tuple_cost=0.0001)  # the approximate index is used whenever it exists


@dataclass(frozen=True)
class Model:
    """A model that gives one vector to every text."""

    vector: np.ndarray
    space: EmbeddingSpace = SPACE

    async def embed(self, texts):
        return np.stack([self.vector for _ in texts])

    async def aclose(self) -> None: ...


@dataclass
class Vectors:
    """The vectors of one workspace, by chunk number."""

    numbers: np.ndarray
    rows: np.ndarray

    def cosines(self, vector: np.ndarray, documents: np.ndarray | None = None) -> dict[int, float]:
        """Returns the cosines as the database computes them, in half precision."""
        rows, asked = self.rows.astype(np.float16).astype(float), vector.astype(np.float16).astype(float)
        scores = rows @ asked / np.linalg.norm(rows, axis=1) / np.linalg.norm(asked)
        left = np.ones(len(rows), bool) if documents is None else np.isin(self.numbers >> 20, documents)
        return dict(zip(self.numbers[left].tolist(), scores[left].tolist(), strict=True))

    def are_nearest(self, leg: DenseLeg, vector: np.ndarray, documents: np.ndarray | None = None) -> bool:
        """Returns whether the leg found the best 50; equals may be in any order."""
        cosines = self.cosines(vector, documents)
        found = [cosines[one.chunk] for one in leg.found]
        assert [one.score for one in leg.found] == pytest.approx(found, abs=1e-5)
        assert len({one.chunk for one in leg.found}) == len(found)
        return found == pytest.approx(sorted(cosines.values(), reverse=True)[:50], abs=1e-5)


@pytest.fixture
async def stored(database):
    """await stored(workspace, count, around=None): that many unit vectors in documents of 20 chunks."""
    async with database.system() as connection:
        await ensure_vector_index(connection, SPACE.model, SPACE.dims)
    dice = np.random.default_rng(5)

    async def store(workspace: UUID, count: int, around: np.ndarray | None = None, first: int = 1) -> Vectors:
        rows = dice.normal(size=(count, SPACE.dims)).astype(np.float32)
        if around is not None:
            rows = around + 0.1 * rows
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        at = np.arange(count, dtype=np.int64)
        numbers = (first + 3 * (at // PER_DOCUMENT)) << 20 | at % PER_DOCUMENT
        values = {"numbers": numbers.tolist(), "rows": vector_array(rows), "workspace": workspace, "model": SPACE.model}
        async with database.workspace(workspace) as connection:
            await connection.execute(
                "INSERT INTO chunk_vector (workspace_id, chunk, document, model, embedding)"
                " SELECT %(workspace)s, chunk, chunk >> 20, %(model)s, row::halfvec"
                " FROM unnest(%(numbers)s::bigint[], %(rows)s::text[]) AS given (chunk, row)",
                values,
            )
            await connection.execute(
                "INSERT INTO workspace_statistics (workspace_id, chunks, terms) VALUES (%s, %s, 0)", (workspace, count)
            )
        return Vectors(numbers, rows)

    return store


@pytest.fixture
def ask(database):
    """await ask(workspace, vector, limits, documents=None, depth=50): the leg's answer."""
    store = SearchStore(database, 40, (SPACE.model, SPACE.dims))

    async def run(workspace, vector, limits, documents=None, depth=50):
        scope = None if documents is None else Scope(documents, PER_DOCUMENT * len(documents))
        async with store.snapshot(workspace, 10) as snapshot:
            request, space = SearchRequest(query="x"), (SPACE.model, SPACE.dims)
            asked = LegQuery(snapshot, request, parse("x"), scope, RULE, space, depth)
            leg = DenseLeg(QueryVectors(Embedders(Model(vector))), limits).begin(asked, "dense")
            await leg.find()
        return leg

    return run


def numbers(leg: DenseLeg) -> list[int]:
    return [one.chunk for one in leg.found]


def unit(seed: int) -> np.ndarray:
    vector = np.random.default_rng(seed).normal(size=SPACE.dims).astype(np.float32)
    return vector / np.linalg.norm(vector)


async def test_every_scan_finds_the_nearest_neighbours_with_any_filter(stored, ask, workspace_id):
    mine = await stored(workspace_id, 2_000)
    documents = np.unique(mine.numbers >> 20)
    few, many = documents[::20], np.setdiff1d(documents, documents[::10])
    for seed in range(3):
        vector = unit(seed)
        for wanted in (None, few, many, documents[:0], np.array([2], np.int64)):
            exact = await ask(workspace_id, vector, SearchLimits(), wanted)
            assert mine.are_nearest(exact, vector, wanted)
            assert exact.method.startswith("exact: ")
            near = await ask(workspace_id, vector, CHEAP, wanted)
            assert len(near.found) == len(exact.found)
            assert len(set(numbers(near)) & set(numbers(exact))) >= 0.9 * len(exact.found)
            assert [one.score for one in near.found] == sorted((one.score for one in near.found), reverse=True)
    assert (await ask(workspace_id, unit(1), CHEAP)).method.startswith("hnsw: 2000 chunks, among about ")
    assert (await ask(workspace_id, unit(1), CHEAP, many)).method.startswith("hnsw: 1800 chunks of the filter, of 2000")


async def test_a_small_workspace_gets_all_its_results_among_many_foreign_vectors(stored, ask, workspace_id):
    vector = unit(7)
    await stored(uuid4(), 3_000, around=vector)  # nearer than all of this workspace's
    mine = await stored(workspace_id, 60, around=-vector)
    by_cost = await ask(workspace_id, vector, SearchLimits(exact_scan=0))
    assert mine.are_nearest(by_cost, vector)
    assert "hnsw would visit about" in by_cost.method
    forced = await ask(workspace_id, vector, CHEAP)
    assert mine.are_nearest(forced, vector)
    cut_short = await ask(workspace_id, vector, SearchLimits(exact_scan=0, hnsw_tuple_cost=0.4))
    assert mine.are_nearest(cut_short, vector)


async def test_a_filter_that_half_of_the_chunks_pass_cuts_off_no_batch_of_the_scan(
    stored, ask, workspace_id, monkeypatch
):
    """Compares with a scan without a limit. Batches are as small for 3,000 chunks as those of 1,000 for a million."""
    mine = await stored(workspace_id, 3_000)
    half = np.unique(mine.numbers >> 20)[::2]
    monkeypatch.setattr("retrieval.dense.plan.MOST_CANDIDATES", 20)
    for seed in range(5):
        limited = await ask(workspace_id, unit(seed), SearchLimits(exact_scan=0, hnsw_tuple_cost=10.0), half)
        assert limited.method.startswith("hnsw: 1500 chunks of the filter, of 3000")
        unlimited = await ask(workspace_id, unit(seed), CHEAP, half)
        assert numbers(limited) == numbers(unlimited)


async def test_chunks_missed_by_hnsw_are_found_by_an_exact_scan(stored, ask, workspace_id, monkeypatch):
    """Checks that the scan stops when it has cost as much as an exact scan, which then runs."""
    vector = unit(7)
    await stored(uuid4(), 3_000, around=vector)
    mine = await stored(workspace_id, 200, around=-vector)
    monkeypatch.setattr("retrieval.dense.plan.MARGIN", 0.0)
    leg = await ask(workspace_id, vector, SearchLimits(exact_scan=0, hnsw_tuple_cost=1.0))
    assert mine.are_nearest(leg, vector)
    assert leg.method.endswith("of 50, so exact")
