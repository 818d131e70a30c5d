"""The retrieval service as in production, except that it knows the vectors of the benchmark's queries.

python -m benchmarks.search_server FOLDER   (has queries.json and queries.npy; the service's settings are in the
environment)
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from prometheus_client import Counter, Histogram

import retrieval.app
import service_kit.telemetry
from inference.embedders import Embedders
from inference.embeddings import BUNDLED_SPACE
from retrieval.settings import Settings
from service_kit.serve import serve

WITHOUT_TELEMETRY = "BENCH_WITHOUT_TELEMETRY"  # in the environment: nothing is counted, and there are no spans


class KnownVectors:
    """Replaces the bundled encoder, in its embedding space, because its cost is measured separately."""

    space = BUNDLED_SPACE

    def __init__(self, folder: Path) -> None:
        texts = json.loads((folder / "queries.json").read_text("utf-8"))
        vectors: NDArray[np.float32] = np.load(folder / "queries.npy")
        self.known = dict(zip(texts, vectors, strict=True))
        self.other = vectors[0]

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self.known.get(text, self.other) for text in texts])

    async def aclose(self) -> None:
        """Does nothing."""


def main(folder: Path) -> None:
    known = KnownVectors(folder)
    retrieval.app.build_embedders = lambda *_, **__: Embedders(known)  # type: ignore[attr-defined]
    if os.environ.get(WITHOUT_TELEMETRY):
        _without_telemetry()
    settings = Settings()
    serve("retrieval", settings, lambda: retrieval.app.create_app(settings))


def _without_telemetry() -> None:
    service_kit.telemetry.configure_tracing = lambda *_: None
    Counter.inc = Histogram.observe = lambda *_: None  # type: ignore[method-assign,assignment]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
