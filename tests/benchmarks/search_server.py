"""The retrieval service as in production, except that it knows the vectors of the benchmark's queries.

python -m benchmarks.search_server FOLDER   (has queries.json and queries.npy; the service's settings are in the
environment)
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import retrieval.app
from inference.embedders import Embedders
from inference.embeddings import BUNDLED_SPACE
from retrieval.settings import Settings
from service_kit.serve import serve


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
    settings = Settings()
    serve("retrieval", settings, lambda: retrieval.app.create_app(settings))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
