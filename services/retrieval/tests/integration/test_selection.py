"""What becomes of the ranking: it is folded, diversified, merged and reranked."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import numpy as np
import pytest
from served_apps import serving
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from contracts.embedding_spaces import SpaceStatus
from contracts.retrieval import Around, SearchMode, SearchRequest, SearchSettingsUpdate
from inference.embedders import Embedders
from inference.errors import ProviderUnavailable, WrongScores
from inference.factory import build_embedders
from retrieval.app import build_search, create_app
from retrieval.ranking.features import Registry
from retrieval.search.reranking import Reranking
from retrieval.spaces.rows import SpaceRows
from retrieval.tuning.store import SearchSettingsStore

WORDS = [f"{first}{second}" for first in ("al", "bra", "che", "do") for second in ("pha", "vo", "rry", "mus")]


def passage(number: int) -> str:
    """Returns a passage about ports, otherwise unlike any other."""
    shift = number % len(WORDS)
    return f"The port is open. {' '.join(WORDS[shift:] + WORDS[:shift])} {WORDS[number // len(WORDS)]}"


@pytest.fixture
async def search(database, make_settings, workspace_id):
    """await search(query, **request): the answer; `search.reranking` may be set."""
    settings = make_settings()
    embedders: Embedders = build_embedders(settings)
    searching = build_search(database, embedders, settings)

    class Asking:
        async def __call__(self, query: str, **request: Any):
            searching.reranking = self.reranking
            return await searching(workspace_id, SearchRequest(query=query, **request))

        reranking: Reranking | None = None

    yield Asking()
    await embedders.aclose()


def contents(answer) -> list[str]:
    return [hit.content for hit in answer.hits]


async def test_a_duplicate_is_listed_in_the_better_hit(index, search, converted):
    text = "The port of the gateway is 8080, and it is open to everyone in the house at any time of the day."
    first, second = converted([text], name="a.md"), converted([text], name="b.md")
    other = converted(["The port of the memory service."], name="c.md")
    for document in (first, second, other):
        await index(document)
    answer = await search("gateway port", k=2)
    assert contents(answer) == [text, "The port of the memory service."]
    (copy,) = answer.hits[0].duplicates
    assert {copy.document_name, answer.hits[0].document_name} == {"a.md", "b.md"}
    assert {copy.document_id, answer.hits[0].document_id} == {first.data.document_id, second.data.document_id}
    unfolded = await search("gateway port", k=3, fold_duplicates=False)
    assert contents(unfolded)[:2] == [text, text]
    assert not any(hit.duplicates for hit in unfolded.hits)


async def test_a_hit_contains_the_filterable_fields_of_its_document(index, search, converted):
    await index(converted(["The port is open."], tags=["red"], language="en"))
    (hit,) = (await search("port")).hits
    assert (hit.tags, hit.language, hit.source_type) == (["red"], "en", "upload")


async def test_deduplication_and_caps_still_leave_k_hits_if_available(index, search, converted):
    await index(converted(["The port is closed."] * 40 + [passage(number) for number in range(10)]))
    for number in range(10, 14):
        await index(converted([passage(number)]))
    assert len((await search("port", k=12)).hits) == 12
    capped = await search("port", k=5, max_per_document=1)
    assert len({hit.document_id for hit in capped.hits}) == len(capped.hits) == 5


async def test_diversity_prefers_content_not_yet_covered(index, search, converted, database, workspace_id):
    async with database.workspace(workspace_id) as connection:
        space = ("all-MiniLM-L6-v2-onnx-int8", 384)
        await SpaceRows(connection, workspace_id).add(space, SpaceStatus.active)
    vectors = np.zeros((3, 384), np.float32)
    vectors[0, 0] = vectors[1, 0] = vectors[2, 1] = 1
    await index(converted(["port port port one", "port port two", "port three"], vectors=vectors))
    plain = contents(await search("port", mode=SearchMode.lexical, k=2))
    assert plain == ["port port port one", "port port two"]
    settings = SearchSettingsStore(database, space, Registry([], {}))
    await settings.change(workspace_id, SearchSettingsUpdate(diversity=0.8), None)
    varied = contents(await search("port", mode=SearchMode.lexical, k=2))
    assert varied == ["port port port one", "port three"]


async def test_a_hit_includes_its_neighbours_and_adjacent_hits_are_merged(index, search, converted):
    texts = [f"Chapter {word}." for word in WORDS]
    texts[4], texts[6] = "The zebra is striped.", "A zebra runs."
    texts[12] = "The last zebra."
    document = converted(texts)
    await index(document)
    answer = await search("zebra", mode=SearchMode.lexical, around=Around.neighbours)
    assert [(hit.around.chunk_index_from, hit.around.chunk_index_to) for hit in answer.hits] == [(3, 7), (11, 13)]
    around = answer.hits[0].around
    assert around.content == "\n".join(texts[3:8])
    assert [around.content[part.start : part.end] for part in around.parts] == texts[3:8]
    assert [part.chunk_id for part in around.parts] == [chunk.chunk_id for chunk in document.chunks[3:8]]
    found = [part.chunk_index for part in around.parts if part.score is not None]
    assert found == [4, 6]
    assert answer.hits[0].score == max(part.score or 0 for part in around.parts)


async def test_overlapping_chunks_are_joined_without_repeating_the_overlap(index, search, converted):
    shared = "This sentence is in both of the passages."
    await index(converted([f"The zebra is striped. {shared}", f"{shared} It ends here."]))
    (hit,) = (await search("zebra", mode=SearchMode.lexical, around=Around.neighbours)).hits
    assert hit.around.content == f"The zebra is striped. {shared} It ends here."


async def test_a_hit_includes_its_section(index, search, converted):
    document = converted([f"Chapter {word}." for word in WORDS])
    for chunk, heading in zip(document.chunks, [*["One"] * 3, *["Two"] * 4, *["Three"] * 9], strict=True):
        chunk.heading_path.append(heading)
    document.chunks[4].heading_path[:] = ["Two"]
    await index(document)
    answer = await search("brapha brarry", mode=SearchMode.lexical, around=Around.section)
    (hit,) = answer.hits
    assert (hit.around.chunk_index_from, hit.around.chunk_index_to) == (3, 6)


class Scripted:
    """A reranker that prefers short passages, or follows a script."""

    model = "scripted"

    def __init__(self, *, error: Exception | None = None, hangs: bool = False) -> None:
        self.error, self.hangs, self.asked = error, hangs, list[list[str]]()

    async def rerank(self, query, texts):  # noqa: ARG002
        self.asked.append(list(texts))
        if self.hangs:
            await asyncio.Event().wait()
        if self.error:
            raise self.error
        return [-float(len(text)) for text in texts]

    async def aclose(self) -> None: ...


async def test_a_reranker_reorders_the_top_candidates(index, search, converted):
    await index(converted(["port port port " + word * 3 for word in WORDS] + ["port"]))
    fused = await search("port", mode=SearchMode.lexical)
    assert (fused.reranked_by, len(fused.legs)) == (None, 1)
    reranker = Scripted()
    search.reranking = Reranking(reranker, 1, 17)
    answer = await search("port", mode=SearchMode.lexical, k=3)
    assert contents(answer)[0] == "port"
    assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)
    assert (answer.reranked_by, answer.legs[-1].leg, answer.legs[-1].candidates) == ("scripted", "rerank", 17)
    assert len(reranker.asked[0]) == 17
    assert contents(await search("port", mode=SearchMode.lexical, rerank=False)) == contents(fused)
    assert len(reranker.asked) == 1


@pytest.mark.parametrize("around", list(Around))
async def test_a_reranker_that_keeps_the_order_changes_nothing(index, search, converted, around):
    """Checks that prefetching for the reranker changes nothing when it returns the fused order."""

    class Echo(Scripted):
        async def rerank(self, query, texts):  # noqa: ARG002
            return [-float(position) for position in range(len(texts))]

    documents = [converted([passage(number) for number in range(start, start + 6)]) for start in (0, 6, 4)]
    for document in documents:
        await index(document)
    for more in ({}, {"max_per_document": 2}, {"k": 3}):
        search.reranking = None
        plain = await search("port open", around=around, **more)
        search.reranking = Reranking(Echo(), 1, 50)
        ranked = await search("port open", around=around, **more)
        assert ranked.reranked_by == "scripted"
        assert contents(ranked) == contents(plain)
        assert [hit.duplicates for hit in ranked.hits] == [hit.duplicates for hit in plain.hits]
        if around is not Around.nothing:
            assert [hit.around.content for hit in ranked.hits] == [hit.around.content for hit in plain.hits]


@pytest.mark.parametrize(
    ("reranker", "reason"),
    [
        (Scripted(hangs=True), "not done within 0.05 s"),
        (Scripted(error=ProviderUnavailable("down")), "ProviderUnavailable: the leg failed"),
        (Scripted(error=WrongScores("3 for 4")), "WrongScores: the leg failed"),
    ],
    ids=["late", "down", "wrong"],
)
async def test_a_failed_reranker_leaves_the_fused_order(index, search, converted, reranker, reason):
    await index(converted(["port port port open", "port"]))
    fused = await search("port", mode=SearchMode.lexical)
    search.reranking = Reranking(reranker, 0.05, 50)
    answer = await search("port", mode=SearchMode.lexical)
    assert contents(answer) == contents(fused)
    assert (answer.reranked_by, answer.legs[-1].leg, answer.legs[-1].error) == (None, "rerank", reason)


async def test_a_configured_rerank_endpoint_is_called(
    make_settings,
    running,
    object_store,  # noqa: ARG001  the bucket has to be there
    ingesting,
    converted,
    auth_headers,
):
    asked = []

    async def answer(request: Request) -> JSONResponse:
        asked.append(body := await request.json())
        return JSONResponse([{"index": index, "score": "night" in text} for index, text in enumerate(body["texts"])])

    async with serving(Starlette(routes=[Route("/rerank", answer, methods=["POST"])])) as url:
        settings = make_settings(rerank_backend="tei", rerank_base_url=url, rerank_model="bge")
        async with running(create_app(settings)) as client:
            await ingesting.convert(converted(["port port port open", "At night the port is closed."]))
            await ingesting.drained()
            body = {"query": "port", "mode": "lexical"}
            response = (await client.post("/v1/search", json=body, headers=auth_headers())).json()
    assert response["hits"][0]["content"] == "At night the port is closed."
    assert response["reranked_by"] == "bge"
    assert json.dumps(asked[0]["texts"]).count("port") == 4
