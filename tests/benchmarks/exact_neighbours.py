"""Exact nearest chunks by brute force over the original float32 vectors, the reference for recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from benchmarks.synthetic_corpus import Corpus, Matrix, Query, chunk_id
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
TOP = 10
BATCHES = 128  # compared at a time


def exact_neighbours(corpus: Corpus, queries: Sequence[Query], scopes: Mapping[str, Mask]) -> dict[str, list[set[str]]]:
    """Returns the ids of each query's ten nearest chunks, by scope (a mask over the corpus's documents)."""
    wanted = np.stack([query.vector for query in queries])
    owners = np.repeat(np.arange(len(corpus)), corpus.sizes)
    scores = {name: np.full((len(queries), TOP), -2.0, np.float32) for name in scopes}
    chunks = {name: np.full((len(queries), TOP), -1, np.int64) for name in scopes}
    first = 0
    for start in range(0, corpus.batches, BATCHES):
        batches = range(start, min(corpus.batches, start + BATCHES))
        vectors: Matrix = np.concatenate([corpus.vectors(batch) for batch in batches])
        numbers = np.arange(first, first + len(vectors))
        first += len(vectors)
        similar = wanted @ vectors.T
        for name, mask in scopes.items():
            own = mask[owners[numbers]]
            merged = np.concatenate([scores[name], similar[:, own]], axis=1)
            of = np.concatenate([chunks[name], np.broadcast_to(numbers[own], (len(queries), int(own.sum())))], axis=1)
            best = np.argpartition(-merged, TOP - 1, axis=1)[:, :TOP]
            scores[name] = np.take_along_axis(merged, best, axis=1)
            chunks[name] = np.take_along_axis(of, best, axis=1)
    return {
        name: [{chunk_id(int(chunk)) for chunk in row if chunk >= 0} for row in found] for name, found in chunks.items()
    }


def recall(found: Sequence[Sequence[str]], exact: Sequence[set[str]]) -> float:
    """Returns the mean share of the exact neighbours among the first ten results."""
    shares = [len(set(ids[:TOP]) & true) / len(true) for ids, true in zip(found, exact, strict=True) if true]
    return float(np.mean(shares))
