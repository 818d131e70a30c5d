"""Comparison with LanceDB and Chroma on the same vectors and texts, in a separate environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.exact_neighbours import recall
from benchmarks.figures import Row, percentile
from benchmarks.search_scenario import Scenario
from benchmarks.synthetic_corpus import Matrix, chunk_id

PYTHON = "COMPARE_PYTHON"
HOW = f"python -m venv DIR && DIR/bin/pip install lancedb chromadb; {PYTHON}=DIR/bin/python"
SCRIPT = Path(__file__).with_name("other_stores.py")


def compared() -> str | None:
    """Returns the interpreter with the stores, None if none is configured."""
    return os.environ.get(PYTHON) or None


def left_out(what: str) -> list[Row]:
    return [(f"{what}: left out", f"to have it: {HOW}", "")]


def put(folder: Path, texts: Iterable[str], vectors: Iterable[Matrix], rows: int) -> None:
    """Writes the corpus block by block in the format of other_stores.py."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "texts.jsonl", "w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(text) + "\n" for text in texts)
    at, written = 0, None
    for block in vectors:
        if written is None:
            shape = (rows, block.shape[1])
            written = np.lib.format.open_memmap(folder / "vectors.npy", mode="w+", dtype=np.float32, shape=shape)
        written[at : at + len(block)] = block
        at += len(block)
    assert at == rows


def put_queries(folder: Path, texts: Sequence[str], vectors: Matrix) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "queries.json").write_text(json.dumps(list(texts)), encoding="utf-8")
    np.save(folder / "queries.npy", vectors)


def ask_stores(python: str, folder: Path) -> dict[str, dict[str, Any]]:
    """Returns by store `loading` in seconds, and by mode the seconds and hits of each query. Shows stores' output."""
    done = subprocess.run([python, str(SCRIPT), str(folder)], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.stderr.write(f"{SCRIPT.name} ended with {done.returncode}\n")
        return {}
    answers: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return answers


def speed(scenario: Scenario, place: Path, exact: list[set[str]]) -> list[Row]:
    """Compares speed on the largest workspace only, because these stores separate workspaces by a store each."""
    if not (python := compared()):
        return left_out("LanceDB and Chroma")
    corpus = scenario.corpus
    own = np.flatnonzero(np.repeat(corpus.workspaces == 0, corpus.sizes))
    if not (place / "vectors.npy").exists():
        texts = (text for one in corpus.documents() if one.workspace == 0 for text in one.texts)
        batches = range(corpus.batches)
        vectors = (corpus.vectors(batch)[corpus.workspace_of_chunks(batch) == 0] for batch in batches)
        put(place, texts, vectors, len(own))
    put_queries(place, scenario.texts, scenario.vectors)
    rows: list[Row] = []
    for name, figures in ask_stores(python, place).items():
        loading = figures.pop("loading")
        rows.append((f"{name}: {len(own)} chunks loaded and indexed", f"{len(own) / loading:.0f} chunks/s", ""))
        for mode, found in figures.items():
            rows.append((f"{name}, {mode}, 1 client, in process (ms)", milliseconds(found["seconds"]), ""))
            if mode == "dense":
                hits = [[chunk_id(int(own[hit])) for hit in hits] for hits in found["hits"]]
                rows.append((f"  recall@10 of {name}, {mode}", f"{recall(hits, exact):.4f}", ""))
    return rows


def milliseconds(seconds: Sequence[float]) -> str:
    return f"{1000 * percentile(seconds, 0.5):.1f} / {1000 * percentile(seconds, 0.95):.1f}"
