"""Loads a synthetic corpus like the service's consumer: one event and one transaction per document.

python -m benchmarks.corpus_loading URL CHUNKS FIRST_DOCUMENT END   is one consumer; it prints "chunks seconds"
"""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO

import numpy as np
from benchmarks.synthetic_corpus import Corpus, SyntheticDocument, chunk_id, workspace_id
from prometheus_client import CollectorRegistry

from contracts.events import DocumentConverted, Event
from contracts.ingestion import Chunk
from inference.embeddings import BUNDLED_SPACE
from retrieval.index.blocks import CHANNEL
from retrieval.index.compaction import Compaction
from retrieval.index.consumer import Indexer
from service_kit.notifications import Notifications
from service_kit.outbox import Outbox, new_event
from service_kit.postgres import Database

SPACE = (BUNDLED_SPACE.model, BUNDLED_SPACE.dims)
LINES_OF_A_CHUNK = 12


class Objects:
    """The objects that ingestion would have stored, for one document at a time."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}

    async def aget(self, key: str) -> bytes:
        return self.held[key]


def load(url: str, chunks: int, first: int, end: int, consumers: int) -> tuple[int, float]:
    """Loads documents `first` up to `end` with `consumers` processes; returns chunks and chunks indexed per second."""
    bounds = np.linspace(first, end, consumers + 1).astype(int)
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.corpus_loading", url, str(chunks), str(start), str(stop)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for start, stop in itertools.pairwise(bounds)
    ]
    outputs = [process.communicate()[0] for process in running]
    if any(process.returncode for process in running):
        raise RuntimeError("a consumer failed, see above")
    figures = [(int(count), float(seconds)) for count, seconds in (output.split()[-2:] for output in outputs)]
    return sum(count for count, _ in figures), sum(count / seconds for count, seconds in figures if seconds)


async def consume(url: str, chunks: int, first: int, end: int) -> tuple[int, float]:
    """Returns (chunks, seconds): the time of the handler, without generating the documents."""
    corpus, objects, count, seconds = Corpus(chunks), Objects(), 0, 0.0
    async with Database(url).opened() as database:
        indexer = Indexer(database, objects, Outbox("benchmark"), SPACE)  # type: ignore[arg-type]
        async with folding(database, url):
            for document in corpus.documents(first, end):
                event = as_event(document, objects)
                began = time.perf_counter()
                await indexer.index(event)
                seconds += time.perf_counter() - began
                count += len(document.texts)
    return count, seconds


@asynccontextmanager
async def folding(database: Database, url: str) -> AsyncIterator[None]:
    """Runs the task that compacts postings in the background, as the service does."""
    notifications = Notifications(url, CHANNEL)
    listening = asyncio.create_task(notifications.run())
    beside = asyncio.create_task(compaction(database).run(notifications))
    try:
        yield
    finally:
        for task in (listening, beside):
            task.cancel()
        outcomes = await asyncio.gather(listening, beside, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException) and not isinstance(outcome, asyncio.CancelledError):
            raise outcome


def compaction(database: Database) -> Compaction:
    return Compaction(database, CollectorRegistry())


def as_event(document: SyntheticDocument, objects: Objects) -> Event:
    """Replaces the last document's objects by this one's; returns its event."""
    vectors = BytesIO()
    np.save(vectors, document.vectors)
    lines = [_chunk(document, index).model_dump_json().encode() for index in range(len(document.texts))]
    objects.held = {"chunks": b"\n".join(lines), "vectors": vectors.getvalue()}
    converted = DocumentConverted.model_validate(
        {
            "document_id": document.document_id,
            "version": 1,
            "name": document.name,
            "title": document.title,
            "media_type": document.media_type,
            "tags": document.tags,
            "language": document.language,
            "source_type": "upload",
            "chunks_key": "chunks",
            "chunk_count": len(document.texts),
            "vectors_key": "vectors",
            "embedding_model": BUNDLED_SPACE.model,
            "embedding_dims": BUNDLED_SPACE.dims,
        }
    )
    return new_event("benchmark", workspace_id(document.workspace), converted, str(document.document_id))


def _chunk(document: SyntheticDocument, index: int) -> Chunk:
    paged = document.media_type == "application/pdf"
    return Chunk(
        chunk_id=chunk_id(document.first_chunk + index),
        document_id=document.document_id,
        chunk_index=index,
        section_title=document.headings[index],
        heading_path=[document.title, document.headings[index]],
        content=document.texts[index],
        token_count=len(document.texts[index]) // 4,
        page=1 + index // 3 if paged else None,
        page_end=1 + index // 3 if paged else None,
        box=(72.0, 80.0 + 200 * (index % 3), 540.0, 270.0 + 200 * (index % 3)) if paged else None,
        line_start=None if paged else 1 + index * LINES_OF_A_CHUNK,
        line_end=None if paged else (index + 1) * LINES_OF_A_CHUNK,
    )


if __name__ == "__main__":
    url, *numbers = sys.argv[1:]
    print(*asyncio.run(consume(url, *map(int, numbers))))
