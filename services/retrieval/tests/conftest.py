from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from io import BytesIO
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest

from contracts.events import DocumentConverted
from contracts.ingestion import Chunk

DIMS = 384
MODEL = "all-MiniLM-L6-v2-onnx-int8"


class Converted:
    """A converted document, as ingestion leaves it: its event's data and its two objects."""

    def __init__(
        self,
        texts: Sequence[str],
        *,
        document_id: UUID | None = None,
        version: int = 1,
        vectors: np.ndarray | None = None,
        **more: Any,
    ) -> None:
        document_id = document_id or uuid4()
        self.chunks = [
            Chunk(
                chunk_id=hashlib.sha256(f"{document_id}{text}{texts[:index].count(text)}".encode()).hexdigest()[:32],
                document_id=document_id,
                chunk_index=index,
                content=text,
                token_count=len(text.split()),
                heading_path=more.get("heading_path", []),
            )
            for index, text in enumerate(texts)
        ]
        self.vectors = vectors if vectors is not None else random_vectors(len(texts))
        self.data = DocumentConverted(
            document_id=document_id,
            version=version,
            name=more.get("name", f"{document_id}.md"),
            title=more.get("title"),
            media_type=more.get("media_type", "text/markdown"),
            tags=more.get("tags", []),
            language=more.get("language"),
            source_type=more.get("source_type", "upload"),
            source_ids=more.get("source_ids", []),
            written_at=more.get("written_at"),
            modified_at=more.get("modified_at"),
            metadata=more.get("metadata", {}),
            chunks_key=f"{document_id}/{version}/chunks.jsonl",
            vectors_key=f"{document_id}/{version}/vectors.npy" if more.get("embedded", True) else None,
            chunk_count=len(texts),
            embedding_model=more.get("model", MODEL),
            embedding_dims=self.vectors.shape[1] if len(texts) else DIMS,
        )

    @property
    def chunks_object(self) -> bytes:
        return b"".join(json.dumps(chunk.model_dump(mode="json")).encode() + b"\n" for chunk in self.chunks)

    @property
    def vectors_object(self) -> bytes:
        file = BytesIO()
        np.save(file, self.vectors)
        return file.getvalue()


def random_vectors(count: int, dims: int = DIMS, seed: int = 7) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(count, dims)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def converted() -> type[Converted]:
    """Makes converted documents, as ingestion leaves them."""
    return Converted
