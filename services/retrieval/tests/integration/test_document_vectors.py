"""Vectors of whole documents: of their summaries, in every space, where a workspace wants them."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

import numpy as np
import pytest

from contracts.events import DocumentDescribed, DocumentFacts, DocumentIndexed, DocumentPurged
from inference.embeddings import EmbeddingSpace
from retrieval.dense.documents import near_documents
from retrieval.index.rows import vector_array
from retrieval.index.writer import ensure_document_vector_index
from retrieval.search.scope import Scope
from retrieval.search.snapshot import SearchStore
from retrieval.spaces import builder, leases

SPACE = EmbeddingSpace("test", 16, 256)
WORDS, MOVED = "words", "moved"
QUERY = "pastry recipes of Vienna"
SUMMARY = "Recipes for pastry and other cakes of Vienna."
STEPS = ["See the table.", "Begin."]
BAKERIES = [f"Bakery {number} sells pastry." for number in range(130)]
VECTORS = "SELECT count(*) FROM document_vector"


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(leases, "RETRY_SECONDS", 0.2)
    monkeypatch.setattr(builder, "LONGEST_WAIT_SECONDS", 0.3)


@pytest.fixture
def settings(make_settings, provider):
    return make_settings([provider.model(MOVED)], **provider.default(WORDS))


@pytest.fixture
def patched(client, auth_headers):
    """await patched(**settings): the search settings, changed."""

    async def change(**settings):
        answer = await client.patch("/v1/search-settings", json=settings, headers=auth_headers())
        assert answer.status_code == 200, answer.text
        return answer.json()

    return change


@pytest.fixture
def counted(database, workspace_id):
    """await counted(statement, *values): the number that it gives in the workspace."""

    async def count(statement: str = VECTORS, *values: object) -> int:
        async with database.workspace(workspace_id) as connection:
            return int((await (await connection.execute(statement, values)).fetchone())[0])

    return count


@pytest.fixture
def space(client, auth_headers, eventually):
    """await space(model, **wanted): the space's state once it is that."""

    async def state(model: str, **wanted):
        async def read():
            items = (await client.get("/v1/embedding-spaces", headers=auth_headers())).json()["items"]
            return next(one for one in items if one["model"] == model)

        return await eventually(read, lambda found: wanted.items() <= found.items())

    return state


@dataclass
class Library:
    cookbook: object
    bakeries: object


@pytest.fixture
async def library(ingestion, converted):
    """A cookbook whose passages say nothing of what it is, and more passages about bakeries than a leg returns."""
    cookbook = converted(STEPS, name="a.pdf", metadata={"summary": SUMMARY}, embedded=False)
    bakeries = converted(BAKERIES, name="b.pdf", embedded=False)
    for document in (cookbook, bakeries):
        await ingestion.convert(document)
    await ingestion.wait_for(DocumentIndexed, 4)  # without vectors, then with
    return Library(cookbook, bakeries)


@pytest.fixture
def found(search):
    """await found(**request): the hits, one of each document, by the document's name."""

    async def ask(**request):
        request = {"fold_duplicates": False, "max_per_document": 1, "explain": True} | request
        return {hit["document_name"]: hit for hit in (await search(QUERY, **request))["hits"]}

    return ask


@pytest.mark.usefixtures("library")
async def test_what_only_the_summary_answers_is_found_by_it(found, patched, space, search):
    assert set(await found()) == {"b.pdf"}
    state = await space(WORDS, status="active")
    assert (state["documents"], state["document_vectors"]) == (0, 0)
    assert (await patched(document_vectors=True))["document_vectors"] is True
    await space(WORDS, documents=2, document_vectors=2)

    for mode in ("hybrid", "rrf", "convex", "dense"):
        assert set(await found(mode=mode)) == {"a.pdf", "b.pdf"}, mode
    assert (await found(mode="dense"))["a.pdf"]["content"] == STEPS[1]
    hit = (await found())["a.pdf"]
    legs, features = hit["explanation"]["legs"], hit["explanation"]["features"]
    assert (legs["document"]["rank"], legs["dense"]["rank"], legs["lexical"]["rank"]) == (1, None, None)
    assert legs["document"]["score"] > 0.5
    assert features["document"] == pytest.approx(legs["document"]["score"] - features["cosine"], abs=1e-4)
    assert (await search(QUERY, fusion={"weights": {"document": 3}}))["hits"][0]["document_name"] == "a.pdf"
    dense = next(leg for leg in (await search(QUERY))["legs"] if leg["leg"] == "dense")
    assert dense["method"].endswith("; exact: 2 documents")


async def test_filters_limit_documents_too(found, patched, space, library, search):
    await patched(document_vectors=True)
    await space(WORDS, document_vectors=2)
    assert set(await found(document_ids=[str(library.bakeries.data.document_id)])) == {"b.pdf"}
    assert set(await found(document_ids=[str(library.cookbook.data.document_id)])) == {"a.pdf"}
    assert set(await found(document_ids=[str(uuid4())])) == set()
    assert (await search(QUERY, workspace_id=uuid4()))["hits"] == []


async def test_a_deleted_document_takes_its_vector_along(found, patched, space, library, ingestion, counted):
    await patched(document_vectors=True)
    await space(WORDS, document_vectors=2)
    await ingestion.delete(library.cookbook)
    (purged,) = await ingestion.wait_for(DocumentPurged, 1)
    assert (purged.removed["document_vectors"], purged.removed["vectors"]) == (1, 2)
    assert purged.remaining["document_vectors"] == 0
    assert set(await found()) == {"b.pdf"}
    assert await counted() == 1


async def test_it_follows_the_document(patched, space, library, ingestion, converted, counted, eventually, search):
    """A new version, another summary, and a document that comes later; what stays the same is not embedded again."""
    await patched(document_vectors=True)
    await space(WORDS, document_vectors=2)
    made = (
        "SELECT max(document_vector.xmin::text::bigint) FROM document_vector JOIN indexed_document ON number = document"
    )
    of_cookbook = f"{made} WHERE name = 'a.pdf'"
    first = await counted(of_cookbook)

    facts = {name: getattr(library.cookbook.data, name) for name in DocumentFacts.model_fields}
    await ingestion.send(DocumentDescribed(**facts | {"tags": ["kitchen"]}))
    await ingestion.drained()
    assert (await counted(of_cookbook), await counted()) == (first, 2)

    await ingestion.send(
        DocumentDescribed(**facts | {"metadata": {"summary": "Astronomy for beginners: the planets."}})
    )
    await ingestion.drained()
    await eventually(counted, lambda vectors: vectors == 2)
    hit = (await search("planets and astronomy", fold_duplicates=False, explain=True, document_ids=None))["hits"][0]
    assert hit["document_name"] == "a.pdf"
    second = await counted(of_cookbook)
    assert second != first

    again = converted(STEPS, document_id=library.cookbook.data.document_id, name="a.pdf", version=2, embedded=False)
    await ingestion.convert(again)
    await ingestion.convert(converted(["Later."], name="c.pdf", embedded=False))
    await space(WORDS, documents=3, document_vectors=3)
    assert await counted(of_cookbook) != second


@pytest.mark.usefixtures("library")
async def test_they_go_when_they_are_not_wanted_any_more(found, patched, space, counted):
    await patched(document_vectors=True)
    await space(WORDS, document_vectors=2)
    assert (await patched(reset=["document_vectors"]))["document_vectors"] is False
    assert set(await found()) == {"b.pdf"}
    await space(WORDS, documents=0, document_vectors=0)
    assert await counted() == 0


@pytest.mark.usefixtures("library")
async def test_a_space_is_switched_to_with_the_vectors_of_all_documents(
    patched, space, client, auth_headers, provider, counted
):
    await patched(document_vectors=True)
    await space(WORDS, document_vectors=2)
    provider.answers = 9  # batches of 16, for 132 passages: none is left for the documents
    body = {"model": MOVED}
    assert (await client.post("/v1/embedding-spaces", json=body, headers=auth_headers())).status_code == 202
    state = await space(MOVED, vectors=132)
    assert (state["status"], state["document_vectors"]) == ("building", 0)
    provider.answers = None
    provider.open.set()
    await space(MOVED, status="active", documents=2, document_vectors=2)
    assert any(text.endswith(SUMMARY) for text in provider.texts)

    old = await space(WORDS, status="ready")
    assert (await client.delete(f"/v1/embedding-spaces/{old['id']}", headers=auth_headers())).status_code == 202
    await space(WORDS, status="available")
    assert await counted() == 2
    assert await counted(f"{VECTORS} WHERE model = %s", MOVED) == 2


async def test_the_approximate_index_finds_them_too(database, workspace_id):
    """Within a filter too; and never fewer than there are."""
    async with database.system() as connection:
        await ensure_document_vector_index(connection, SPACE.model, SPACE.dims)
    dice, count = np.random.default_rng(5), 3_000
    rows, vector = dice.normal(size=(count, SPACE.dims)).astype(np.float32), dice.normal(size=SPACE.dims)
    async with database.workspace(workspace_id) as connection:
        place = {"workspace_id": workspace_id, "numbers": list(range(count)), "model": SPACE.model}
        await connection.execute(
            "INSERT INTO indexed_document (workspace_id, document_id, number, version, name, title_terms, media_type,"
            " chunk_count, term_count) SELECT %(workspace_id)s, gen_random_uuid(), number, 1, 'x', '{}', 'x', 1, 1"
            " FROM unnest(%(numbers)s::bigint[]) AS number",
            place,
        )
        await connection.execute(
            "INSERT INTO document_vector (workspace_id, document, model, embedding)"
            " SELECT %(workspace_id)s, number, %(model)s, embedding::halfvec"
            " FROM unnest(%(numbers)s::bigint[], %(embeddings)s::text[]) AS written (number, embedding)",
            place | {"embeddings": vector_array(rows)},
        )
        await connection.execute("INSERT INTO workspace_stemming VALUES (%s, 'english', %s)", (workspace_id, count))
    cosines = rows @ vector / np.linalg.norm(rows, axis=1)
    within = np.arange(0, count, 2)
    few = np.arange(10)
    async with SearchStore(database, 100).snapshot(workspace_id, 10) as snapshot:
        for documents in (None, within, few):
            scope = None if documents is None else Scope(documents, len(documents))
            exact = await near_documents(snapshot.reader, vector, SPACE, scope, 20.0, 5_000)
            near = await near_documents(snapshot.reader, vector, SPACE, scope, 0.0001, 0)
            among = np.arange(count) if documents is None else documents
            best = among[np.argsort(-cosines[among])][:20].tolist()
            assert (exact.method.split(":")[0], near.method.split(":")[0]) == ("exact", "hnsw")
            assert [exact.rank(one) for one in best[:3]] == [1, 2, 3]
            assert len(near.scores) == len(exact.scores) == min(20, len(among))
            assert len(near.scores.keys() & exact.scores.keys()) >= 0.9 * len(best)
            assert near.passages == []
