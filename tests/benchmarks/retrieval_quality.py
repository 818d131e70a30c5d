"""Quality and speed of search on BEIR-like folders and the PEPs, with the service's own code.

python tests/benchmarks/retrieval_quality.py quality FOLDER...   nDCG@10 (ir-*) or recall@5 (mh-*) of every mode
python tests/benchmarks/retrieval_quality.py refusal FOLDER...   good_match: right corpus against wrong ones
python tests/benchmarks/retrieval_quality.py neighbours FOLDER...   what HNSW and halfvec cost
python tests/benchmarks/retrieval_quality.py speed FOLDER        p50 and p95 over a folder of text files

Embeddings are cached in EMBEDDING_CACHE (default: a folder in the system's temporary folder).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID, uuid4, uuid5

import numpy as np
from numpy.typing import NDArray
from prometheus_client import CollectorRegistry

from contracts.events import DocumentConverted
from contracts.ingestion import Chunk
from contracts.retrieval import SearchMode, SearchRequest, SearchResponse
from embedded.engines import Engines
from inference.embedders import Embedders
from inference.embeddings import EmbeddingSpace
from inference.factory import build_embedder, build_embedders
from inference.settings import EmbeddingSettings
from relevance.analysis import Analyzer
from relevance.wordpieces import WordPieces
from retrieval.dense.query_vectors import QueryVectors
from retrieval.index.compaction import Compaction
from retrieval.index.preparation import ChunkVectors, Facts, prepare
from retrieval.index.writer import IndexWriter
from retrieval.reading.leg import SearchLimits
from retrieval.reading.snapshot import SearchStore
from retrieval.search.legs import Legs
from retrieval.search.search import Search
from retrieval.spaces.rows import ensure_vector_index
from service_kit.migrate import migrate
from service_kit.postgres import Database
from service_kit.recent_values import RecentValues

Matrix = NDArray[np.float32]
SPACE = uuid5(UUID(int=0), "benchmark")


class CachedEmbedder:
    """The bundled model as the services use it: documents' embeddings, cached in files, and those of queries."""

    def __init__(self) -> None:
        default = Path(tempfile.gettempdir()) / "attractor-embeddings"
        self.folder = Path(os.environ.get("EMBEDDING_CACHE", default))
        self.folder.mkdir(parents=True, exist_ok=True)
        self.embedder = build_embedder(EmbeddingSettings())
        self.asking = build_embedders(EmbeddingSettings(), queries=True)
        self.known: dict[str, NDArray[np.float32]] = {}

    @property
    def space(self) -> EmbeddingSpace:
        return self.embedder.space

    async def corpus(self, texts: Sequence[str]) -> Matrix:
        digest = hashlib.sha256("\x00".join([self.space.model, *texts]).encode()).hexdigest()[:24]
        file = self.folder / f"{digest}.npy"
        if not file.exists():
            np.save(file, await self.embedder.embed(texts))
        vectors: Matrix = np.load(file)
        return vectors

    async def remember(self, texts: Sequence[str]) -> None:
        self.known.update(zip(texts, await self.asking.default.embed(texts), strict=True))

    async def embed(self, texts: Sequence[str]) -> Matrix:
        if all(text in self.known for text in texts):
            return np.stack([self.known[text] for text in texts])
        return await self.asking.default.embed(texts)

    async def aclose(self) -> None:
        await self.asking.aclose()
        await self.embedder.aclose()


@dataclass
class Dataset:
    """A BEIR-like folder: documents as (id, title, text), questions as (id, text), grades by question and document."""

    name: str
    documents: list[tuple[str, str, str]]
    questions: list[tuple[str, str]]
    grades: dict[str, dict[str, int]]

    @classmethod
    def read(cls, folder: Path) -> Dataset:
        def lines(name: str) -> list[dict[str, str]]:
            return [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]

        grades: dict[str, dict[str, int]] = defaultdict(dict)
        for line in (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
            question, document, grade = line.split("\t")
            if int(grade) > 0:
                grades[question][document] = int(grade)
        asked = lines("questions.jsonl" if (folder / "questions.jsonl").exists() else "queries.jsonl")
        questions = [
            (one["id"], one.get("question") or one["text"])
            for one in asked
            if one.get("supporting_complete", True) and one["id"] in grades
        ]
        documents = [(one["id"], one.get("title") or "", one["text"]) for one in lines("corpus.jsonl")]
        return cls(folder.name, documents, questions, dict(grades))

    def measure(self, question: str, top: list[str]) -> float:
        """Returns recall@5 for multi-hop sets, nDCG@10 with exponential gain for the others."""
        wanted = self.grades[question]
        if self.name.startswith("mh"):
            return len(set(top[:5]) & set(wanted)) / len(wanted)
        gain: float = sum((2.0 ** wanted.get(one, 0) - 1) / math.log2(n + 2) for n, one in enumerate(top[:10]))
        ideal = sorted(wanted.values(), reverse=True)[:10]
        return gain / sum((2.0**grade - 1) / math.log2(n + 2) for n, grade in enumerate(ideal))


class Bench:
    """A separate database with an index, and the search on it."""

    def __init__(self, database: Database, embedder: CachedEmbedder) -> None:
        self.database, self.embedder, self.analyzer, self.pieces = database, embedder, Analyzer(), WordPieces()
        self.store = SearchStore(database, int(os.environ.get("HNSW_EF_SEARCH", "220")))
        self.vectors = QueryVectors(Embedders(embedder))
        self.search = self.searching(int(os.environ.get("EXACT_SCAN_LIMIT", "10000")))

    def searching(self, exact_scan: int, tuple_cost: float = 20) -> Search:
        limits = SearchLimits(30, 30, exact_scan, tuple_cost)
        return Search(Legs(self.store, self.vectors, self.analyzer, limits), self.analyzer)

    async def index(
        self, workspace_id: UUID, document: DocumentConverted, chunks: list[Chunk], vectors: Matrix
    ) -> None:
        embedded = ChunkVectors(self.embedder.space.model, vectors)
        prepared = prepare(Facts.of(document), chunks, embedded, self.analyzer, self.pieces)
        async with self.database.workspace(workspace_id) as connection:
            writer = IndexWriter(connection, workspace_id, self.analyzer)
            await writer.replace(await writer.lock(document.document_id), prepared)

    async def index_dataset(self, dataset: Dataset) -> UUID:
        workspace_id = uuid5(SPACE, dataset.name)
        vectors = await self.embedder.corpus([f"{title} {text}".strip() for _, title, text in dataset.documents])
        await self.embedder.remember([text for _, text in dataset.questions])
        for number, (name, title, text) in enumerate(dataset.documents):
            document, chunks = converted(uuid5(SPACE, name), name, title, [text], self.embedder.space)
            await self.index(workspace_id, document, chunks, vectors[number : number + 1])
        await Compaction(self.database, CollectorRegistry()).work_off()
        return workspace_id

    async def ask(self, workspace_id: UUID, query: str, mode: SearchMode, **more: bool) -> SearchResponse:
        return await self.search(workspace_id, SearchRequest(query=query, mode=mode, **more))


def converted(
    document_id: UUID, name: str, title: str, texts: list[str], space: EmbeddingSpace
) -> tuple[DocumentConverted, list[Chunk]]:
    document = DocumentConverted(
        document_id=document_id,
        version=1,
        name=name,
        title=title,
        media_type="text/plain",
        tags=[],
        language=None,
        source_type="upload",
        chunks_key="",
        vectors_key="",
        chunk_count=len(texts),
        embedding_model=space.model,
        embedding_dims=space.dims,
    )
    chunks = [
        Chunk(
            chunk_id=uuid5(document_id, str(index)).hex,
            document_id=document_id,
            chunk_index=index,
            content=text,
            token_count=0,
        )
        for index, text in enumerate(texts)
    ]
    return document, chunks


async def quality(bench: Bench, folders: list[Path]) -> None:
    print(f"{'set':14} {'documents':>9} {'questions':>9}  " + "  ".join(f"{mode.value:>7}" for mode in SearchMode))
    for folder in folders:
        dataset = Dataset.read(folder)
        workspace_id = await bench.index_dataset(dataset)
        figures = []
        for mode in SearchMode:
            values = []
            for question, text in dataset.questions:
                answer = await bench.ask(workspace_id, text, mode, fold_duplicates=False)
                values.append(dataset.measure(question, [hit.document_name for hit in answer.hits]))
            figures.append(sum(values) / len(values))
        counts = f"{dataset.name:14} {len(dataset.documents):9} {len(dataset.questions):9}  "
        print(counts + "  ".join(f"{value:7.4f}" for value in figures), flush=True)


async def refusal(bench: Bench, folders: list[Path]) -> None:
    datasets = [Dataset.read(folder) for folder in folders]
    workspaces = [await bench.index_dataset(dataset) for dataset in datasets]
    for mode in (SearchMode.hybrid, SearchMode.lexical):
        print(f"\n{mode.value}: share of questions with a good match\n{'corpus':14} {'questions of':14} good match")
        for corpus, workspace_id in zip(datasets, workspaces, strict=True):
            for asked in datasets:
                good = [(await bench.ask(workspace_id, text, mode)).good_match for _, text in asked.questions]
                print(f"{corpus.name:14} {asked.name:14} {sum(good) / len(good):.3f}", flush=True)


async def neighbours(bench: Bench, folders: list[Path]) -> None:
    """Measures all sets in one HNSW index, which is used although brute force would suffice for their size."""
    searches = {"exact halfvec": bench.searching(10**9), "hnsw halfvec": bench.searching(0, tuple_cost=0.001)}
    datasets = [(dataset, await bench.index_dataset(dataset)) for dataset in map(Dataset.read, folders)]
    for dataset, workspace_id in datasets:
        names = [name for name, _, _ in dataset.documents]
        stored = await bench.embedder.corpus([f"{title} {text}".strip() for _, title, text in dataset.documents])
        asked = await bench.embedder.embed([text for _, text in dataset.questions])
        best = np.argsort(-(asked @ stored.T), axis=1, kind="stable")[:, :10]
        exact = [[names[at] for at in row] for row in best.tolist()]
        values = [dataset.measure(question, top) for (question, _), top in zip(dataset.questions, exact, strict=True)]
        print(f"{dataset.name:14} {'exact float32':14} dense  {np.mean(values):.4f}", flush=True)
        for (name, search), mode in product(searches.items(), (SearchMode.dense, SearchMode.hybrid)):
            values, shares = [], []
            for (question, text), true in zip(dataset.questions, exact, strict=True):
                answer = await search(workspace_id, SearchRequest(query=text, mode=mode, fold_duplicates=False))
                methods = [leg.method or "" for leg in answer.legs if leg.leg == "dense"]
                assert all(method.startswith(name.split()[0]) and "so exact" not in method for method in methods)
                top = [hit.document_name for hit in answer.hits]
                values.append(dataset.measure(question, top))
                shares.append(len(set(top) & set(true)) / len(true))
            recall = f"  recall@10 {np.mean(shares):.4f}" if mode is SearchMode.dense else ""
            print(f"{dataset.name:14} {name:14} {mode.value:6} {np.mean(values):.4f}{recall}", flush=True)


async def speed(bench: Bench, folders: list[Path]) -> None:
    """Measures passages of about 800 characters with random vectors, whose cost does not depend on their content."""
    dice, workspace_id = np.random.default_rng(1), uuid4()
    took, questions, chunk_count = [], [], 0
    for file in sorted(path for path in folders[0].iterdir() if path.is_file()):
        texts = passages(file.read_text("utf-8", "replace"))
        vectors = dice.normal(size=(len(texts), bench.embedder.space.dims)).astype(np.float32)
        document, chunks = converted(uuid4(), file.name, texts[0].split("\n")[0][:200], texts, bench.embedder.space)
        start = time.perf_counter()
        await bench.index(workspace_id, document, chunks, vectors)
        took.append((time.perf_counter() - start, len(texts)))
        chunk_count += len(texts)
        words = [word for word in texts[len(texts) // 2].split() if word.isalpha()]
        questions.append(" ".join(words[:8]) or file.name)
    await Compaction(bench.database, CollectorRegistry()).work_off()
    total = sum(seconds for seconds, _ in took)
    print(f"{len(took)} documents, {chunk_count} chunks indexed in {total:.1f} s ({chunk_count / total:.0f} chunks/s)")
    small = sorted(1000 * seconds for seconds, chunks in took if chunks <= 10)
    print(f"documents of at most 10 chunks: p50 {middle(small):.0f} ms, p95 {small[int(0.95 * len(small))]:.0f} ms")
    for mode in SearchMode:
        await percentiles(bench, workspace_id, mode.value, questions[:300], mode)
    await percentiles(
        bench, workspace_id, "hybrid again (query vectors remembered)", questions[:300], SearchMode.hybrid
    )
    await percentiles(bench, workspace_id, "hybrid + highlights", questions[:60], SearchMode.hybrid, highlight=True)


async def percentiles(
    bench: Bench, workspace_id: UUID, name: str, questions: list[str], mode: SearchMode, **more: bool
) -> None:
    if mode is not SearchMode.hybrid:
        bench.vectors.known = RecentValues()
    times, legs = [], defaultdict(list)
    for question in questions:
        start = time.perf_counter()
        answer = await bench.ask(workspace_id, question, mode, **more)
        times.append(1000 * (time.perf_counter() - start))
        for leg in answer.legs:
            legs[leg.leg].append(leg.milliseconds)
    times.sort()
    parts = ", ".join(f"{leg} {middle(values):.1f}" for leg, values in legs.items())
    print(f"{name:40} p50 {middle(times):6.1f} ms  p95 {times[int(0.95 * len(times))]:6.1f} ms  (legs' p50: {parts})")


def middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def passages(text: str) -> list[str]:
    """Joins paragraphs to passages of up to about 800 characters."""
    found = [""]
    for paragraph in text.split("\n\n"):
        if len(found[-1]) + len(paragraph) > 800 and found[-1]:
            found.append("")
        found[-1] += paragraph.strip() + "\n\n"
    return [one.strip() for one in found if one.strip()] or [text or "empty"]


@asynccontextmanager
async def opened(admin_url: str) -> AsyncIterator[Bench]:
    parts = urlsplit(admin_url)
    place = f"{parts.hostname}:{parts.port}"
    service_url = urlunsplit(parts._replace(netloc=f"attractor_retrieval:benchmark@{place}"))
    migrate(admin_url, service_url, "retrieval", "retrieval")
    embedder = CachedEmbedder()
    async with Database(service_url).opened() as database:
        async with database.system() as connection:
            await ensure_vector_index(connection, embedder.space.model, embedder.space.dims)
        yield Bench(database, embedder)
    await embedder.aclose()


async def main(command: str, folders: list[Path], admin_url: str) -> None:
    async with opened(admin_url) as bench:
        await {"quality": quality, "refusal": refusal, "neighbours": neighbours, "speed": speed}[command](
            bench, folders
        )


if __name__ == "__main__":
    with Engines.temporary() as engines:
        asyncio.run(main(sys.argv[1], [Path(name) for name in sys.argv[2:]], engines.admin_database_url))
