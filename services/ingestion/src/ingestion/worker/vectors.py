"""Makes the vectors of a document's chunks; unchanged chunks reuse the vectors of an earlier version."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from inference.embeddings import Embedder
from ingestion.conversion import embedding_text
from ingestion.documents.derived_objects import derived_keys
from ingestion.documents.documents import DocumentSql
from ingestion.documents.rows import HeldStage
from ingestion.worker.database import WorkerDatabase
from ingestion.worker.embedding import BATCH, TextEmbedder
from ingestion.worker.holding import Holding
from ingestion.worker.stages import ChosenModel
from service_kit.chunks import read_chunks
from service_kit.objects import ObjectMissing, ObjectStore

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Vectors:
    """One row per chunk, in order; `reused` counts the rows taken from an earlier version."""

    rows: NDArray[np.float32]
    model: str
    dims: int
    reused: int


@dataclass(frozen=True)
class EarlierVectors:
    """The vectors of an earlier version, by the digest of the embedded text."""

    rows: NDArray[np.float32]
    places: dict[bytes, int]

    def find(self, text: str) -> NDArray[np.float32] | None:
        place = self.places.get(_digest(text))
        return None if place is None else self.rows[place]


class VectorMaker:
    """Makes vectors in the embedding space in which the document's workspace is searched."""

    def __init__(self, database: WorkerDatabase, objects: ObjectStore, embedder: TextEmbedder) -> None:
        self.database, self.objects, self.embedder = database, objects, embedder

    def make(self, job: HeldStage, chosen: ChosenModel, chunks: Path, holding: Holding, folder: Path) -> Vectors:
        """Returns the vectors of the chunks, made with the model `chosen`; `folder` is for temporary files.

        Raises EmbeddingError, UnknownModel, Unavailable, and errors of `holding.check`.
        """
        embedder = self.embedder.choose(chosen)
        model, dims = embedder.space.model, embedder.space.dims
        count = sum(1 for _ in read_texts(chunks))
        earlier = self._earlier(job, model, dims, folder)
        rows = np.empty((count, dims), np.float32)
        waiting: list[tuple[int, str]] = []
        reused = 0
        for place, text in enumerate(read_texts(chunks)):
            known = earlier.find(text) if earlier else None
            if known is None:
                waiting.append((place, text))
            else:
                rows[place] = known
                reused += 1
            if len(waiting) == BATCH:
                self._fill(embedder, rows, waiting, holding)
                waiting = []
            holding.progress(place + 1 - len(waiting), count)
        if waiting:
            self._fill(embedder, rows, waiting, holding)
        return Vectors(rows, model, dims, reused)

    def _fill(
        self, embedder: Embedder, rows: NDArray[np.float32], waiting: list[tuple[int, str]], holding: Holding
    ) -> None:
        rows[[place for place, _ in waiting]] = self.embedder.embed(
            embedder, [text for _, text in waiting], holding.check
        )

    def _reusable_version(self, job: HeldStage, model: str, dims: int) -> int | None:
        key = {"workspace_id": job.workspace_id, "document_id": job.document_id, "version": job.version}
        with self.database.workspace(job.workspace_id) as connection:
            values = {**key, "embedding_model": model, "embedding_dims": dims}
            row = connection.execute(DocumentSql.reusable_version, values).fetchone()
        return row[0] if row else None

    def _earlier(self, job: HeldStage, model: str, dims: int, folder: Path) -> EarlierVectors | None:
        version = self._reusable_version(job, model, dims) if job.version > 1 else None
        if version is None:
            return None
        keys = derived_keys(job.workspace_id, job.document_id, version)
        chunks, vectors = folder / "earlier.jsonl", folder / "earlier.npy"
        try:
            self.objects.get_file(keys.chunks, chunks)
            self.objects.get_file(keys.vectors, vectors)
        except ObjectMissing:
            log.info("no earlier vectors to reuse", extra={"document_id": str(job.document_id), "version": version})
            return None
        rows: NDArray[np.float32] = np.load(vectors, mmap_mode="r")
        digests = [_digest(text) for text in read_texts(chunks)]
        if rows.shape != (len(digests), dims):
            return None
        return EarlierVectors(rows, {digest: place for place, digest in enumerate(digests)})


def read_texts(chunks: Path) -> Iterator[str]:
    """Yields the text to embed for each chunk of a JSON Lines file."""
    with chunks.open("rb") as lines:
        for chunk in read_chunks(lines):
            yield embedding_text(chunk.heading_path, chunk.content)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
