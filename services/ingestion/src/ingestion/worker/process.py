"""Takes a document from its original to stored chunks and vectors, stage by stage."""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from uuid import UUID

import numpy as np

from contracts.ingestion import StageName
from ingestion.conversion import ConversionError, Converted, Limits, Progress
from ingestion.derived import DerivedKeys, derived_keys
from ingestion.rows import Job
from ingestion.worker.embedding import ChunkEmbedder, read_chunks
from ingestion.worker.failures import Failure, delay_after, failure_of
from ingestion.worker.holding import Holding, Shutdown, Stopped
from ingestion.worker.stages import LeaseLost, Stages
from service_kit.objects import ObjectStore, derived_prefix, original_key

log = logging.getLogger(__name__)
MEDIA_TYPES = {"document": "application/json", "markdown": "text/markdown", "chunks": "application/jsonl"}


class FileConverter(Protocol):
    """What `ingestion.conversion.Converter` does."""

    def convert(
        self,
        source: Path,
        file_name: str,
        document_id: UUID,
        output: Path,
        limits: Limits,
        on_progress: Callable[[Progress], None],
    ) -> Converted: ...


@dataclass(frozen=True)
class Policy:
    """Limits of one conversion, and how often to try what may be somebody else's fault."""

    limits: Limits
    max_losses: int
    max_postponements: int
    lease_seconds: float
    work_folder: Path


@dataclass
class _Work:
    """A held document on its way; `stage` is the one that a failure belongs to."""

    job: Job
    stage: StageName
    holding: Holding
    folder: Path
    keys: DerivedKeys
    chunk_count: int | None = None


class Processor:
    """Processes documents, several at once when called from several threads."""

    def __init__(
        self,
        stages: Stages,
        objects: ObjectStore,
        converter: FileConverter,
        embedder: ChunkEmbedder,
        shutdown: Shutdown,
        policy: Policy,
    ) -> None:
        self.stages, self.objects, self.converter, self.embedder = stages, objects, converter, embedder
        self.shutdown, self.policy = shutdown, policy

    def process(self, workspace_id: UUID, document_id: UUID) -> None:
        """Does what is queued of the document; nothing when another worker has it, so that a duplicate is harmless.

        Every end is recorded with the document. Raises only when the database is away: the stage's lease ends then.
        """
        job = None if self.shutdown.is_over else self.stages.lease(workspace_id, document_id)
        if job is None:
            return
        with (
            Holding(self.stages, job, self.shutdown, self.policy.lease_seconds) as holding,
            tempfile.TemporaryDirectory(prefix="document-", dir=self.policy.work_folder) as folder,
        ):
            keys = derived_keys(job.workspace_id, job.document_id, job.version)
            work = _Work(job, job.stage, holding, Path(folder), keys)
            started = time.monotonic()
            try:
                self._attempt(work)
            except LeaseLost:
                self._clean_up(job)
            extra = {"document_id": str(document_id), "began": job.stage, "ended": work.stage}
            log.info("processed", extra={**extra, "seconds": round(time.monotonic() - started, 3)})

    def _attempt(self, work: _Work) -> None:
        try:
            if work.stage == "convert":
                self._convert(work)
            self._embed(work)
        except LeaseLost:
            raise
        except Stopped:
            self.stages.release(work.job)
        except Exception as error:
            # The boundary of a task: whatever it is, it is recorded with the document, and the worker goes on.
            failure = failure_of(error)
            extra = {"document_id": str(work.job.document_id), "stage": work.stage, "reason": failure.error_class}
            log.warning("stage failed", extra=extra, exc_info=None if isinstance(error, ConversionError) else error)
            self._record(work, failure)

    def _record(self, work: _Work, failure: Failure) -> None:
        """Later, with growing delays; after too many the stage has failed."""
        job, message = work.job, failure.message
        if failure.retry:
            lost = failure.retry == "lost"
            tried, allowed = (
                (job.losses, self.policy.max_losses) if lost else (job.postponements, self.policy.max_postponements)
            )
            if tried + 1 < allowed:
                self.stages.postpone(job, delay_after(tried), failure.error_class, message, lost=lost)
                return
            message = f"{message} (tried {tried + 1} times)"
        self.stages.fail(job, work.stage, failure.error_class, message)

    def _convert(self, work: _Work) -> None:
        job, output = work.job, work.folder / "output"
        output.mkdir()
        source = work.folder / "original"
        self.objects.get_file(original_key(job.workspace_id, job.content_hash), source)

        def on_progress(progress: Progress) -> None:
            if progress.stage == "chunk" and work.stage == "convert":
                self.stages.start_chunking(job)
                work.stage = "chunk"
            work.holding.progress(progress.page, progress.pages)

        limits = self.policy.limits
        converted = self.converter.convert(source, job.name, job.document_id, output, limits, on_progress)
        # Not after the lease has ended: another worker may be writing the same objects by then.
        work.holding.check()
        self._store(work, output)
        self.stages.converted(
            job,
            title=converted.title,
            pages=converted.pages,
            chunk_count=converted.chunks,
            engine=converted.engine,
        )
        work.stage, work.chunk_count = "embed", converted.chunks

    def _store(self, work: _Work, output: Path) -> None:
        self.objects.put_file(work.keys.document, output / "document.json", MEDIA_TYPES["document"])
        self.objects.put_file(work.keys.markdown, output / "document.md", MEDIA_TYPES["markdown"])
        self.objects.put_file(work.keys.chunks, output / "chunks.jsonl", MEDIA_TYPES["chunks"])

    def _embed(self, work: _Work) -> None:
        """From the stored chunks: those of this run, or of the one that a crash ended."""
        chunks = work.folder / "output" / "chunks.jsonl"
        if work.chunk_count is None:
            self.objects.get_file(work.keys.chunks, chunks)
            work.chunk_count = sum(1 for _ in read_chunks(chunks))
        vectors = self.embedder.embed(chunks, work.chunk_count, work.holding)
        path = work.folder / "vectors.npy"
        np.save(path, vectors)
        work.holding.check()
        self.objects.put_file(work.keys.vectors, path)
        space = self.embedder.space
        self.stages.embedded(work.job, model=space.model, dims=space.dims)

    def _clean_up(self, job: Job) -> None:
        """Removes what was written too late for a document that is being deleted, then lets its erasure go on."""
        if self.stages.is_deleted(job):
            late = self.objects.keys(derived_prefix(job.workspace_id, job.document_id))
            if late:
                self.objects.delete(late)
            self.stages.abandon(job)
        log.info("lease lost", extra={"document_id": str(job.document_id), "stage": job.stage})
