"""What vectors of whole documents add: BEIR-like folders whose documents are cut into passages of two sentences.

python -m benchmarks.document_vectors FOLDER...

nDCG@10 (ir-*) or recall@5 (mh-*) of the documents, each at its best passage, without such vectors and by the weight of
`document`. "under titles": passages are embedded under their document's title, as under a heading; "bare": without it.
Embeddings are kept in EMBEDDING_CACHE.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
from pathlib import Path
from uuid import UUID, uuid5

import numpy as np
from benchmarks.retrieval_quality import SPACE, Bench, Dataset, converted, opened
from prometheus_client import CollectorRegistry

from contracts.embedding_spaces import SpaceStatus
from contracts.retrieval import FusionOptions, FusionWeights, SearchMode, SearchRequest, SearchSettingsUpdate
from embedded.engines import Engines
from inference.embedders import Embedders
from inference.factory import build_embedder
from inference.settings import EmbeddingSettings
from retrieval.index.compaction import Compaction, CompactionMetrics
from retrieval.spaces.builder import SpaceBuilder
from retrieval.spaces.rows import SpaceRows
from retrieval.tuning.store import SearchSettingsStore
from service_kit.notifications import Notifications
from service_kit.outbox import Outbox

SENTENCES = 2
WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)


def cut(text: str) -> list[str]:
    sentences = [one for one in re.split(r"(?<=[.!?])\s+", text) if one.strip()] or [text or "empty"]
    return [" ".join(sentences[start : start + SENTENCES]) for start in range(0, len(sentences), SENTENCES)]


async def index(bench: Bench, dataset: Dataset, *, titled: bool) -> UUID:
    workspace_id = uuid5(SPACE, f"{dataset.name}/passages/{titled}")
    parts = [(title, cut(text)) for _, title, text in dataset.documents]
    texts = [f"{title}\n{one}".strip() if titled else one for title, passages in parts for one in passages]
    vectors, first = await bench.embedder.corpus(texts), 0
    await bench.embedder.remember([text for _, text in dataset.questions])
    for (name, title, _), (_, passages) in zip(dataset.documents, parts, strict=True):
        document, chunks = converted(uuid5(SPACE, name), name, title, passages, bench.embedder.space)
        await bench.index(workspace_id, document, chunks, vectors[first : first + len(chunks)])
        first += len(chunks)
    await Compaction(bench.database, CompactionMetrics(CollectorRegistry())).work_off()
    return workspace_id


async def embed_documents(bench: Bench, workspace_id: UUID) -> float:
    """As the service's background task does; the seconds that it took."""
    space = bench.embedder.space
    async with bench.database.workspace(workspace_id) as connection:
        await SpaceRows(connection, workspace_id).add((space.model, space.dims), SpaceStatus.active)
    store = SearchSettingsStore(bench.database, (space.model, space.dims))
    await store.change(workspace_id, SearchSettingsUpdate(document_vectors=True), None)
    builder = SpaceBuilder(
        bench.database,
        Notifications("", "unused"),
        Outbox("benchmark"),
        lambda: Embedders(build_embedder(EmbeddingSettings())),
        [space],
        batch=16,
    )
    start = time.perf_counter()
    await builder.work_off()
    return time.perf_counter() - start


async def measure(bench: Bench, dataset: Dataset, workspace_id: UUID, weight: float) -> tuple[float, float, float]:
    """The mean of the set's figure and its standard error; the median of the milliseconds."""
    fusion, values, times = FusionOptions(weights=FusionWeights(document=weight)), [], []
    for question, text in dataset.questions:
        asked = SearchRequest(
            query=text, mode=SearchMode.hybrid, fusion=fusion, fold_duplicates=False, max_per_document=1
        )
        answer = await bench.search(workspace_id, asked)
        values.append(dataset.measure(question, [hit.document_name for hit in answer.hits]))
        times.append(answer.milliseconds)
    return float(np.mean(values)), float(np.std(values) / np.sqrt(len(values))), float(np.median(times))


async def main(folders: list[Path], admin_url: str) -> None:
    async with opened(admin_url) as bench:
        for folder in folders:
            dataset = Dataset.read(folder)
            for titled in (True, False):
                workspace_id = await index(bench, dataset, titled=titled)
                told = f"{dataset.name} {'under titles' if titled else 'bare':12}"
                value, error, milliseconds = await measure(bench, dataset, workspace_id, 0.0)
                print(f"{told} off   {value:.4f} ± {error:.4f}  p50 {milliseconds:.0f} ms", flush=True)
                seconds = await embed_documents(bench, workspace_id)
                print(f"{told} {len(dataset.documents)} documents embedded in {seconds:.0f} s", flush=True)
                for weight in WEIGHTS:
                    value, error, milliseconds = await measure(bench, dataset, workspace_id, weight)
                    print(f"{told} {weight:4g}  {value:.4f} ± {error:.4f}  p50 {milliseconds:.0f} ms", flush=True)


if __name__ == "__main__":
    with Engines.temporary() as engines:
        asyncio.run(main([Path(name) for name in sys.argv[1:]], engines.admin_database_url))
