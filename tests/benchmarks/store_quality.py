"""Search quality compared with LanceDB and Chroma, all with the bundled encoder's vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from api_calls import EVALUATION
from benchmarks.figures import Row
from benchmarks.retrieval_quality import Bench, Dataset, opened
from benchmarks.store_comparison import ask_stores, compared, left_out, put, put_queries

from contracts.retrieval import SearchMode
from embedded.engines import Engines


async def quality(bench: Bench, folder: Path, place: Path) -> list[Row]:
    """Returns nDCG@10 on a folder of questions with known answers: the service's search, and each store's best mode."""
    dataset = Dataset.read(folder)
    workspace = await bench.index_dataset(dataset)
    texts = [f"{title} {text}".strip() for _, title, text in dataset.documents]
    asked = [text for _, text in dataset.questions]
    found = {}
    for mode in (SearchMode.hybrid, SearchMode.dense):
        answers = [await bench.ask(workspace, text, mode) for text in asked]
        found[f"{dataset.name}: {mode.value}"] = [[hit.document_name for hit in one.hits] for one in answers]
    if python := compared():
        put(place, texts, [await bench.embedder.corpus(texts)], len(texts))
        put_queries(place, asked, await bench.embedder.corpus(asked))
        for name, figures in ask_stores(python, place).items():
            figures.pop("loading")
            for searched, given in figures.items():
                names = [[dataset.documents[hit][0] for hit in hits] for hits in given["hits"]]
                found[f"{dataset.name}: {name}, {searched}"] = names
    rows: list[Row] = []
    for name, tops in found.items():
        values = [dataset.measure(question, top) for (question, _), top in zip(dataset.questions, tops, strict=True)]
        rows.append((f"nDCG@10 of {name}", f"{np.mean(values):.4f}", ""))
    return rows


async def stores_quality(folder: Path) -> list[Row]:
    """Measures the folders ir-* of the evaluation data, if present."""
    places = sorted(EVALUATION.glob("ir-*"))
    if not places:
        return left_out("quality beside LanceDB and Chroma, for want of ../shared/eval")
    rows = [] if compared() else left_out("quality of LanceDB and Chroma")
    with Engines.temporary() as engines:
        async with opened(engines.admin_database_url) as bench:
            for place in places:
                rows += await quality(bench, place, folder / place.name)
    return rows
