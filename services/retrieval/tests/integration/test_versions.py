"""Versions of a document: one is seen at a time, unchanged parts are kept, later words and vectors arrive."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from contracts.base import LineBox
from contracts.events import DocumentDescribed, DocumentIndexed
from contracts.retrieval import SearchMode, SearchRequest
from inference.embedders import Embedders
from relevance.analysis import Analyzer
from retrieval.dense.query_vectors import QueryVectors
from retrieval.reading.candidate_rows import CandidateRows
from retrieval.reading.leg import SearchLimits
from retrieval.reading.snapshot import SearchStore
from retrieval.reading.vectors import cosines, from_binary, vector_text
from retrieval.search.legs import Legs
from retrieval.search.search import Search

SWITCHES = 50
PASSAGES = ["The port is 8080.", "Nothing else is said.", "Backups run at night."]


async def rows(database, workspace_id, statement: str):
    async with database.workspace(workspace_id) as connection:
        return await (await connection.execute(statement)).fetchall()


async def test_a_search_sees_exactly_one_version(index, database, embedder, converted, workspace_id):
    analyzer = Analyzer()
    legs = Legs(SearchStore(database, 100), QueryVectors(Embedders(embedder)), analyzer, SearchLimits(10, 10))
    search, first = Search(legs, analyzer), converted(["shared", "port number 0"])
    document_id, done = first.data.document_id, asyncio.Event()
    for _ in range(15):  # others that the query finds too, better than a chunk without its words
        await index(converted(["A number of things that say nothing of a harbour.", "port"]))
    await index(first)
    requests = [
        SearchRequest(query="port number", mode=mode, document_ids=ids)
        for mode in (SearchMode.lexical, SearchMode.hybrid)
        for ids in (None, [document_id])
    ]

    async def switch() -> None:
        for version in range(1, SWITCHES + 1):
            texts = ["shared", f"port number {version}"][:: 1 if version % 2 else -1]
            await index(converted(texts, document_id=document_id, version=version))
        done.set()

    async def ask(request: SearchRequest) -> int:
        asked = 0
        while not done.is_set():
            hits = (await search(workspace_id, request)).hits
            own = [hit.content for hit in hits if hit.document_id == document_id and "port" in hit.content]
            assert len(own) == 1, own
            asked += 1
        return asked

    *asked, _ = await asyncio.gather(*map(ask, requests), switch())
    assert sum(asked) > SWITCHES


async def test_unchanged_chunks_keep_their_rows_and_vectors(ingestion, search, converted, database, workspace_id):
    first = await ingestion.embedded(converted(PASSAGES, title="Guide", tags=["old"]))
    await ingestion.convert(first)
    await ingestion.wait_for(DocumentIndexed, 1)
    places = "SELECT number, content, chunk_index, xmin::text FROM chunk ORDER BY chunk_index"
    before = {content: (number, written) for number, content, _, written in await rows(database, workspace_id, places)}
    changed = [PASSAGES[0].replace("8080", "9090"), PASSAGES[2], PASSAGES[1]]
    second = converted(changed, document_id=first.data.document_id, version=2, title="Guide", tags=["new"])
    await ingestion.convert(await ingestion.embedded(second))
    *_, indexed = await ingestion.wait_for(DocumentIndexed, 2)
    assert (indexed.version, indexed.chunk_count, indexed.vectors) == (2, 3, 3)
    after = await rows(database, workspace_id, places)
    assert [content for _, content, _, _ in after] == changed
    assert {number for number, content, _, _ in after if content in before} == {
        before[text][0] for text in PASSAGES[1:]
    }
    assert await rows(database, workspace_id, "SELECT count(*) FROM chunk_vector") == [(3,)]
    assert (await search("8080", mode="lexical"))["hits"] == []
    assert (await search("9090", mode="lexical"))["hits"][0]["content"] == changed[0]
    assert (await search("guide", tags=["old"]))["hits"] == []
    assert len((await search("guide", tags=["other", "NEW"]))["hits"]) == 3
    ((statistics,),) = await rows(database, workspace_id, "SELECT (chunks, terms)::text FROM workspace_statistics")
    ((counted,),) = await rows(
        database,
        workspace_id,
        "SELECT (count(*), sum(terms))::text FROM chunk",
    )
    assert statistics == counted


async def test_late_vectors_are_added_without_reindexing(ingestion, search, converted, database, workspace_id):
    bare = converted(PASSAGES, embedded=False, model="elsewhere")
    await ingestion.convert(bare)
    (indexed,) = await ingestion.wait_for(DocumentIndexed, 1)
    assert indexed.chunk_count == 3
    assert (await search("port"))["hits"][0]["content"] == PASSAGES[0]
    postings = "SELECT document, batch, xmin::text FROM recent_postings"
    before = await rows(database, workspace_id, postings)
    complete = await ingestion.embedded(converted(PASSAGES, document_id=bare.data.document_id))
    await ingestion.convert(complete)
    await ingestion.drained()
    assert (await ingestion.answers(DocumentIndexed))[-1].vectors == 3
    assert await rows(database, workspace_id, postings) == before
    assert (await search("port"))["legs"][1]["candidates"] == 3


async def test_a_renamed_document_is_found_by_its_new_name_and_not_by_its_old_one(ingestion, search, converted):
    document = await ingestion.embedded(converted(PASSAGES, name="walrus.md", tags=["one"]))
    await ingestion.convert(document)
    await ingestion.wait_for(DocumentIndexed, 1)
    assert len((await search("walrus", mode="lexical"))["hits"]) == 3
    told = {"document_id": document.data.document_id, "version": 1}
    await ingestion.send(DocumentDescribed(**told, name="penguin.md", title=None, tags=["two"], source_type="upload"))
    await ingestion.drained()
    assert (await search("walrus", mode="lexical"))["hits"] == []
    hits = (await search("penguin", mode="lexical", tags=["two"]))["hits"]
    assert [hit["document_name"] for hit in hits] == ["penguin.md"] * 3
    assert (await search("port", mode="dense"))["legs"][0]["candidates"] == 3
    await ingestion.send(DocumentDescribed(**told, name="penguin.md", title=None, tags=["three"], source_type="git"))
    late = {"version": 0, "name": "late.md", "title": None, "tags": [], "source_type": "upload"}
    await ingestion.send(DocumentDescribed(**told | late))
    await ingestion.drained()
    assert len((await search("penguin", tags=["three"]))["hits"]) == 3


async def test_the_indexed_documents_are_listed(ingestion, client, converted, auth_headers):
    documents = [await ingestion.embedded(converted(PASSAGES[: 1 + number % 3])) for number in range(5)]
    for document in documents:
        await ingestion.convert(document)
    await ingestion.wait_for(DocumentIndexed, 5)
    found, cursor, pages = [], None, 0
    while pages == 0 or cursor:
        params = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = (await client.get("/v1/index/documents", params=params, headers=auth_headers())).json()
        found, cursor, pages = found + page["items"], page["next_cursor"], pages + 1
    expected = {str(one.data.document_id): len(one.chunks) for one in documents}
    assert {one["document_id"]: one["chunk_count"] for one in found} == expected
    assert all((one["version"], one["vectors"]) == (1, one["chunk_count"]) for one in found)
    assert (len(found), pages) == (5, 3)
    wrong = await client.get("/v1/index/documents", params={"cursor": "x"}, headers=auth_headers())
    assert (wrong.status_code, wrong.json()["type"]) == (422, "bad-cursor")


async def test_hits_say_where_their_chunks_stand_in_the_markdown_also_after_the_document_has_changed(
    ingestion, search, converted
):
    document = await ingestion.embedded(converted(PASSAGES, name="walrus.md"))

    async def put(*places: tuple[int | None, int | None]) -> list[tuple[int | None, int | None]]:
        for at, (start, end) in enumerate(places):
            found = document.chunks[at].model_copy(update={"markdown_start": start, "markdown_end": end})
            document.chunks[at] = found
        await ingestion.convert(document)
        await ingestion.drained()
        hits = sorted((await search("port", mode="dense"))["hits"], key=lambda hit: hit["chunk_index"])
        return [(hit["markdown_start"], hit["markdown_end"]) for hit in hits]

    assert await put((0, 17), (19, 39), (None, None)) == [(0, 17), (19, 39), (None, None)]
    document.data = document.data.model_copy(update={"version": 2})
    assert await put((10, 27), (29, 49), (51, 72)) == [(10, 27), (29, 49), (51, 72)]
    told = {"document_id": document.data.document_id, "version": 2}
    await ingestion.send(DocumentDescribed(**told, name="seal.md", title="Seals", tags=[], source_type="upload"))
    await ingestion.drained()
    hits = (await search("port", mode="dense"))["hits"]
    assert sorted(hit["markdown_start"] for hit in hits) == [10, 29, 51]


async def test_hits_have_the_boxes_of_their_lines_also_after_the_document_is_renamed_or_converted_again(
    ingestion, search, converted
):
    document = await ingestion.embedded(converted(PASSAGES, name="walrus.pdf"))
    boxes = [
        LineBox(page=1, box=(72.0, 700.4, 540.2, 711.9), start=0, end=5),
        LineBox(page=2, box=(72.0, 80.0, 300.0, 91.5), start=6, end=12),
    ]
    document.chunks[0] = document.chunks[0].model_copy(update={"boxes": boxes})

    async def shown() -> list[list[dict]]:
        hits = (await search("port", mode="dense"))["hits"]
        return [hit["boxes"] for hit in sorted(hits, key=lambda hit: hit["chunk_index"])]

    await ingestion.convert(document)
    await ingestion.drained()
    expected = [one.model_dump(mode="json") for one in boxes]
    assert await shown() == [expected, [], []]
    told = {"document_id": document.data.document_id, "version": 1}
    await ingestion.send(DocumentDescribed(**told, name="seal.pdf", title="Seals", tags=[], source_type="upload"))
    await ingestion.drained()
    assert await shown() == [expected, [], []]
    document.chunks[0] = document.chunks[0].model_copy(update={"boxes": boxes[:1]})
    document.data = document.data.model_copy(update={"version": 2})
    await ingestion.convert(document)
    await ingestion.drained()
    assert await shown() == [expected[:1], [], []]


async def test_candidates_are_read_once_in_a_state_of_the_index(index, database, embedder, converted, workspace_id):
    analyzer, store = Analyzer(), SearchStore(database, 100)
    search = Search(Legs(store, QueryVectors(Embedders(embedder)), analyzer, SearchLimits(10, 10)), analyzer)
    document = converted(PASSAGES, title="Ports")
    document.vectors = await embedder.embed(PASSAGES)
    space = {"embedding_model": embedder.space.model, "embedding_dims": embedder.space.dims}
    document.data = document.data.model_copy(update=space)
    await index(document)

    async def title_named() -> list[float]:
        answer = await search(workspace_id, SearchRequest(query="harbour of the ports", explain=True))
        assert all(hit.explanation.features["cosine"] for hit in answer.hits)
        return [hit.explanation.features["title_named"] for hit in answer.hits]

    first = await title_named()
    assert first[0] > 0
    states, read = [], CandidateRows._read

    async def recorded(self, chunks):
        states.append(self.state)
        return await read(self, chunks)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CandidateRows, "_read", recorded)
        assert await title_named() == first
        assert states == []
        document.data = document.data.model_copy(update={"version": 2, "title": "Castle"})
        await index(document)
        assert set(await title_named()) == {0.0}
        assert len(states) == 1


async def test_cosines_are_those_of_the_server(database, workspace_id, index, embedder, converted):
    document = converted(PASSAGES)
    document.vectors = await embedder.embed(PASSAGES)
    space = {"embedding_model": embedder.space.model, "embedding_dims": embedder.space.dims}
    document.data = document.data.model_copy(update=space)
    await index(document)
    [vector] = await embedder.embed(["Which port?"])
    nearness = f"1 - (embedding <=> '{vector_text(vector)}'::halfvec)"
    statement = f"SELECT halfvec_send(embedding), {nearness} FROM chunk_vector"
    stored, expected = zip(*await rows(database, workspace_id, statement), strict=True)
    found = cosines(vector, [None, *map(from_binary, stored)])
    assert np.isnan(found[0])
    assert np.allclose(found[1:], expected, rtol=0, atol=1e-6)
