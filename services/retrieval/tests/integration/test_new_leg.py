"""A leg of one's own: a class, an entry in the list of legs, and a weight."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from contracts.retrieval import SearchMode, SearchRequest
from inference.embedders import Embedders
from relevance.analysis import Analyzer
from retrieval.dense.query_vectors import QueryVectors
from retrieval.ranking.features import Columns, Feature
from retrieval.reading.leg import Leg, SearchLimits
from retrieval.reading.reader import ScoredChunk
from retrieval.reading.snapshot import SearchStore
from retrieval.search.legs import Legs
from retrieval.search.search import Search

LIMITS = SearchLimits(60, 60)
NEWEST = """
    SELECT number, coalesce(written_at, modified_at) FROM indexed_document
    WHERE workspace_id = %(workspace_id)s AND coalesce(written_at, modified_at) IS NOT NULL
    ORDER BY 2 DESC LIMIT %(limit)s
"""


class RecencyLeg(Leg):
    """Finds the first chunks of the newest documents; the feature falls from 1 to 0 in a year."""

    kind, weight, columns = "recency", 0.5, (Feature("recency", 2.0),)

    async def find(self) -> None:
        async with self.leg_query.snapshot.beside() as reader:
            rows = await reader.rows(NEWEST, limit=self.leg_query.depth)
        today = datetime.now(UTC)
        self.recent = {number: max(0.0, 1 - (today - written) / timedelta(days=365)) for number, written in rows}
        self.found = [ScoredChunk(number << 20, recency) for number, recency in self.recent.items()]
        self.method = f"{len(rows)} dated documents"

    async def features(self, chunks: Sequence[int]) -> Columns:
        return {"recency": np.array([self.recent.get(chunk >> 20, 0.0) for chunk in chunks])}


@pytest.fixture
async def search(database, embedder, index, converted, workspace_id):
    for days, text in ((300, "The lease of the office ends in May."), (2, "The office moves to the harbour.")):
        document = converted([text])
        document.vectors = await embedder.embed([text])
        written = datetime.now(UTC) - timedelta(days=days)
        document.data = document.data.model_copy(
            update={
                "written_at": written,
                "embedding_model": embedder.space.model,
                "embedding_dims": embedder.space.dims,
            }
        )
        await index(document)
    store, vectors, analyzer = SearchStore(database, 100), QueryVectors(Embedders(embedder)), Analyzer()

    def with_legs(*legs: Leg):
        return Search(Legs(store, vectors, analyzer, LIMITS, further=legs), analyzer)

    async def ask(query: str, *legs: Leg, **more):
        return await with_legs(*legs)(workspace_id, SearchRequest(query=query, explain=True, **more))

    return ask


async def test_a_leg_that_is_registered_ranks_explains_and_reports(search):
    before = await search("lease of the office")
    assert "lease" in before.hits[0].content
    answer = await search("lease of the office", RecencyLeg(60.0))
    first, second = answer.hits
    assert "harbour" in first.content
    assert first.explanation is not None
    assert second.explanation is not None
    assert first.explanation.features["recency"] > 0.9 > 0.2 > second.explanation.features["recency"]
    assert first.explanation.weights["recency"] == 2.0
    assert first.explanation.legs["recency"].rank == 1
    assert {leg.leg: leg.method for leg in answer.legs}["recency"] == "2 dated documents"
    for mode in (SearchMode.rrf, SearchMode.convex):
        ranks = (await search("lease of the office", RecencyLeg(60.0), mode=mode)).hits
        assert {hit.explanation.legs["recency"].rank for hit in ranks if hit.explanation} == {1, 2}
        assert len({hit.score for hit in ranks}) == 2


async def test_the_settings_know_the_weights_of_a_registered_leg(database, embedder):
    legs = Legs(
        SearchStore(database, 100), QueryVectors(Embedders(embedder)), Analyzer(), LIMITS, further=[RecencyLeg(1.0)]
    )
    assert legs.registry.default_weights(None).weights["recency"] == 2.0
    assert legs.registry.legs["recency"] == 0.5
    assert legs.registry.unknown({"recency"}, {"recency"}) == []
    assert "recency" in str(list(legs.metrics.seconds.collect()))


async def test_a_late_leg_of_ones_own_is_left_out(search):
    class Stuck(RecencyLeg):
        async def find(self) -> None:
            raise TimeoutError

    answer = await search("lease of the office", Stuck(0.05))
    assert "lease" in answer.hits[0].content
    assert {leg.leg: leg.error for leg in answer.legs}["recency"] == "not done within 0.05 s"
