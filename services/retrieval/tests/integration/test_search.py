"""What a search does when the query is odd, a leg is late, or nothing answers."""

from __future__ import annotations

import asyncio
import random
from uuid import uuid4

import numpy as np
import pytest

from contracts.events import DocumentConverted, DocumentIndexed, Event
from contracts.retrieval import SearchMode, SearchRequest
from inference.embedders import Embedders
from inference.embeddings import EmbeddingSpace
from inference.errors import ProviderUnavailable
from relevance.analysis import Analyzer
from retrieval.dense.query_vectors import QueryVectors
from retrieval.errors import SearchUnavailable
from retrieval.index.consumer import Indexer
from retrieval.lexical.words import MOST_WORDS
from retrieval.reading.leg import SearchLimits
from retrieval.reading.snapshot import SearchStore
from retrieval.search.legs import Legs
from retrieval.search.search import Search
from service_kit.outbox import Outbox

ODD = [
    "'; DROP TABLE chunk; --",
    "%s %(workspace_id)s {model} $1",
    "a & b | !c <-> (d:*",
    '"unbalanced \\',
    "🦄 👩‍👩‍👧 ﷽ ̷",
    "‮right to left‬ שלום مرحبا",
    "?!...",
    "the of and",
    "x" * 10_000,
    "日本語" * 3_000,
    "( " * 5_000,
]


SPACE = ("all-MiniLM-L6-v2-onnx-int8", 384)


class Embeddings:
    """An embedder with scripted answers."""

    space = EmbeddingSpace("all-MiniLM-L6-v2-onnx-int8", 384, 256)

    def __init__(self, *, wait: asyncio.Event | None = None, error: Exception | None = None) -> None:
        self.wait, self.error, self.calls = wait, error, 0

    async def embed(self, texts):
        self.calls += 1
        if self.wait:
            await self.wait.wait()
        if self.error:
            raise self.error
        return np.full((len(texts), 384), 384**-0.5, np.float32)

    async def aclose(self) -> None: ...


@pytest.fixture
def searching(database):
    def build(embeddings: Embeddings, limits: SearchLimits | None = None) -> Search:
        analyzer = Analyzer()
        vectors = QueryVectors(Embedders(embeddings))
        legs = Legs(SearchStore(database, 100), vectors, analyzer, limits or SearchLimits(60, 60))
        return Search(legs, analyzer)

    return build


async def test_any_query_is_data(ingestion, search, converted):
    await ingestion.convert(await ingestion.embedded(converted(["A plain text.", *ODD[:6]])))
    await ingestion.wait_for(DocumentIndexed, 1)
    for query in ODD:
        for mode in SearchMode:
            answer = await search(query, mode=mode.value, highlight=True, explain=True)
            assert all(leg["error"] is None for leg in answer["legs"])
    assert (await search("A plain text."))["hits"][0]["content"] == "A plain text."


NOT_VALID = [
    {},
    {"query": ""},
    {"query": "nul \x00"},
    {"query": "x" * 10_001},
    {"query": "x", "k": 0},
    {"query": "x", "k": 101},
    {"query": "x", "mode": "best"},
    {"query": "x", "document_ids": ["no id"]},
    {"query": "x", "document_ids": [str(uuid4())] * 10_001},
    {"query": "x", "media_types": ["text/\x00"]},
    {"query": "x", "surprise": 1},
]


async def test_an_invalid_request_is_rejected(client, auth_headers):
    for body in NOT_VALID:
        response = await client.post("/v1/search", json=body, headers=auth_headers())
        assert response.status_code == 422, body
        assert response.headers["content-type"] == "application/problem+json"


async def test_without_a_token_nobody_searches(client):
    assert (await client.post("/v1/search", json={"query": "x"})).status_code == 401


async def test_a_long_query_is_asked_by_its_rarest_terms(index, searching, converted, workspace_id):
    dice = random.Random(3)
    words = [f"word{number}" for number in range(900)]
    for number in range(30):
        await index(converted([" ".join(words[: 30 * number + 30]) for _ in range(3)]))
    query = " ".join(dice.sample(words, len(words)))
    answer = await searching(Embeddings())(workspace_id, SearchRequest(query=query, mode=SearchMode.lexical, k=3))
    assert answer.legs[0].method == f"bm25: {MOST_WORDS} of {MOST_WORDS} terms known, {900 - MOST_WORDS} left out"
    assert all("word899" in hit.content for hit in answer.hits)


def counted_legs(search: Search) -> dict[tuple[str, str], float]:
    [told] = search.legs.metrics.seconds.collect()
    return {
        (one.labels["leg"], one.labels["result"]): one.value
        for one in told.samples
        if one.name.endswith("_count") and one.value
    }


def answers_without(search: Search) -> dict[str, float]:
    [told] = search.legs.metrics.without.collect()
    return {one.labels["leg"]: one.value for one in told.samples if one.name.endswith("_total") and one.value}


async def test_a_leg_that_is_late_or_fails_is_left_out_and_named(index, searching, converted, workspace_id):
    await index(converted(["The AuthService signs tokens."]))
    late = searching(Embeddings(wait=asyncio.Event()), SearchLimits(dense_seconds=0.05))
    failing = searching(Embeddings(error=ProviderUnavailable("down")))
    for search, reason in ((late, "not done within 0.05 s"), (failing, "ProviderUnavailable: the leg failed")):
        for mode in (SearchMode.hybrid, SearchMode.rrf):
            answer = await search(workspace_id, SearchRequest(query="authservice", mode=mode, highlight=True))
            assert [hit.content for hit in answer.hits] == ["The AuthService signs tokens."]
            assert answer.hits[0].highlights[0].start == 0
            assert [leg.error for leg in answer.legs] == [None, reason]
        with pytest.raises(SearchUnavailable) as unavailable:
            await search(workspace_id, SearchRequest(query="authservice", mode=SearchMode.dense))
        assert unavailable.value.extra == {"legs": {"dense": reason}}
        assert counted_legs(search) == {("lexical", "answered"): 2, ("dense", "left_out"): 3}
        assert answers_without(search) == {"dense": 2}


async def test_an_answer_that_goes_without_a_leg_for_several_wordings_counts_once(
    index, searching, converted, workspace_id
):
    await index(converted(["The AuthService signs tokens."]))
    search = searching(Embeddings(error=ProviderUnavailable("down")))
    await search(workspace_id, SearchRequest(query="authservice", queries=["tokens", "signing"]))
    assert counted_legs(search) == {("lexical", "answered"): 3, ("dense", "left_out"): 3}
    assert answers_without(search) == {"dense": 1}


async def test_chunks_without_their_document_are_left_out(index, searching, converted, workspace_id, database, caplog):
    lost = converted(["The otter lives in the holt."])
    await index(lost)
    await index(converted(["The hare lives in the form, not in a holt."]))
    search_again = searching(Embeddings())  # its rows of the chunks stay in memory
    assert len((await search_again(workspace_id, SearchRequest(query="holt"))).hits) == 2
    async with database.workspace(workspace_id) as connection:
        await connection.execute("DELETE FROM indexed_document WHERE document_id = %s", (lost.chunks[0].document_id,))
    for search in (search_again, searching(Embeddings())):
        for mode in SearchMode:
            answer = await search(workspace_id, SearchRequest(query="holt", mode=mode))
            assert [hit.content for hit in answer.hits if hit.document_id == lost.chunks[0].document_id] == []
    assert "left out chunks without a document" in caplog.text


async def test_the_sentence_that_answers_is_highlighted_without_embedding_it(index, searching, converted, workspace_id):
    await index(converted(["Lunch is at noon. The AuthService signs tokens. Cars are parked outside."]))
    embeddings = Embeddings()
    search = searching(embeddings)
    for query, sentence in (
        ("authservice", "The AuthService signs tokens."),
        ("vehicle", "Cars are parked outside."),  # no word in common
    ):
        answer = await search(workspace_id, SearchRequest(query=query, highlight=True))
        best = answer.hits[0].highlights[0]
        assert answer.hits[0].content[best.start : best.end] == sentence
    assert embeddings.calls == 2  # the queries


async def test_a_query_is_embedded_once(searching, workspace_id):
    embeddings = Embeddings()
    search = searching(embeddings)
    for _ in range(3):
        await search(workspace_id, SearchRequest(query="again"))
    assert embeddings.calls == 1


async def test_vectors_of_another_model_are_not_compared(index, searching, converted, workspace_id):
    await index(converted(["old words"], model="old-model"))
    await index(converted(["other dimensions"], model=Embeddings.space.model, vectors=np.ones((1, 8), np.float32)))
    search = searching(Embeddings())
    assert (await search(workspace_id, SearchRequest(query="nothing", mode=SearchMode.dense))).hits == []
    found = await search(workspace_id, SearchRequest(query="old words"))
    assert [hit.content for hit in found.hits] == ["old words"]


async def test_a_crash_before_the_commit_leaves_nothing_and_the_retry_all(
    database, object_store, ingestion, converted, workspace_id, searching
):
    class Crash(BaseException): ...

    class CrashingOutbox(Outbox):
        async def write(self, *_args: object) -> Event:
            raise Crash

    document = converted(["The port is 8080."])
    await ingestion.store(document)
    event = Event(
        id=uuid4(),
        source="test",
        type=DocumentConverted.event_type,
        time="2026-01-01T00:00:00Z",
        subject="x",
        workspace_id=workspace_id,
        data=document.data.model_dump(mode="json"),
    )
    search = searching(Embeddings())
    with pytest.raises(Crash):
        await Indexer(database, object_store, CrashingOutbox("test"), SPACE).index(event)
    assert (await search(workspace_id, SearchRequest(query="port"))).hits == []
    for _ in range(2):  # the second time is like a crash between the commit and the acknowledgement
        await Indexer(database, object_store, Outbox("test"), SPACE).index(event)
    assert len((await search(workspace_id, SearchRequest(query="port"))).hits) == 1


@pytest.mark.parametrize("mode", list(SearchMode))
async def test_what_the_query_excludes_is_excluded_in_every_mode(index, searching, converted, workspace_id, mode):
    await index(converted(["red apple", "green apple"], heading_path=["Fruit"]))
    await index(converted(["apple of my eye"], heading_path=["Sayings"]))
    search = searching(Embeddings())
    queries = {"apple -red": {"green apple", "apple of my eye"}, "section:fruit apple": {"red apple", "green apple"}}
    queries |= {'"my eye"': {"apple of my eye"}, 'section:fruit apple -"green apple"': {"red apple"}}
    for query, expected in queries.items():
        answer = await search(workspace_id, SearchRequest(query=query, mode=mode, strict=True))
        assert {hit.content for hit in answer.hits} == expected, query


async def test_without_the_lexical_leg_conditions_cannot_be_met(index, searching, converted, workspace_id):
    await index(converted(["red apple"]))
    search = searching(Embeddings(), SearchLimits(lexical_seconds=1e-9))
    with pytest.raises(SearchUnavailable):
        await search(workspace_id, SearchRequest(query="apple -red", strict=True))
