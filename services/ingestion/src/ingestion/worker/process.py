"""Processes a document stage by stage, from its original to stored chunks and vectors."""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Protocol
from uuid import UUID

import numpy as np
from opentelemetry.trace import SpanKind

from contracts.ingestion import StageName
from contracts.object_keys import original_key
from ingestion.conversion import ConversionProgress, Converted, Limits, WorkerDied
from ingestion.conversion.time_limit import limits_for
from ingestion.documents.derived_objects import DerivedKeys, derived_keys
from ingestion.documents.rows import HeldStage
from ingestion.worker.embedding import BATCH
from ingestion.worker.holding import Holding, Shutdown, WorkerStopped
from ingestion.worker.metrics import WorkerMetrics, format_of
from ingestion.worker.queue import StageQueue
from ingestion.worker.recording import FailureRecorder, ProcessingPolicy
from ingestion.worker.stages import ChosenModel
from ingestion.worker.vectors import VectorMaker
from service_kit.objects import ObjectStore
from service_kit.tracing import span
from service_kit.work import LeaseLost

log = logging.getLogger(__name__)
PROMPT_SECONDS = 1.0  # a shorter conversion of few chunks is recorded together with their vectors
MEDIA_TYPES = {"markdown": "text/markdown", "chunks": "application/jsonl"}


class FileConverter(Protocol):
    """The interface of `ingestion.conversion.Converter`."""

    def convert(
        self,
        source: Path,
        file_name: str,
        document_id: UUID,
        output: Path,
        limits: Limits,
        on_progress: Callable[[ConversionProgress], None],
        *,
        workspace_id: UUID,
    ) -> Converted: ...


@dataclass
class _Work:
    """A document in progress; `stage` is the current one, started at `began`. `converted` is not recorded yet."""

    job: HeldStage
    stage: StageName
    holding: Holding
    folder: Path
    keys: DerivedKeys
    has_chunks: bool = False
    converted: Converted | None = None
    chosen: ChosenModel = None
    began: float = field(default_factory=time.monotonic)


class Processor:
    """Processes documents. Thread-safe: each calling thread processes one."""

    def __init__(
        self,
        queue: StageQueue,
        objects: ObjectStore,
        converter: FileConverter,
        vectors: VectorMaker,
        shutdown: Shutdown,
        policy: ProcessingPolicy,
        metrics: WorkerMetrics,
    ) -> None:
        self.queue, self.stages = queue, queue.stages
        self.objects, self.converter, self.vectors = objects, converter, vectors
        self.shutdown, self.policy, self.metrics = shutdown, policy, metrics
        self.failures = FailureRecorder(self.stages, policy, metrics)

    def process(self, job: HeldStage) -> None:
        """Runs the document's stage and the stages after it, and records their results.

        Raises only if the database does not respond; the lease then expires.
        """
        carrier = {"traceparent": job.traceparent} if job.traceparent else None
        with (
            span("ingestion.process_document", carrier, SpanKind.CONSUMER),
            self.queue.hold(job, self.shutdown) as holding,
        ):
            started = time.monotonic()
            ended = job.stage
            try:
                ended = self._attempt(job, holding)
            except LeaseLost:
                self._clean_up(job)
            extra = {"document_id": str(job.document_id), "began": job.stage, "ended": ended}
            log.info("document processed", extra={**extra, "seconds": round(time.monotonic() - started, 3)})

    def _attempt(self, job: HeldStage, holding: Holding) -> StageName:
        """Returns the stage at which it ended. Creating the work folder is part of it, because the disk may be full."""
        stage, converted = job.stage, None
        try:
            with tempfile.TemporaryDirectory(prefix="document-", dir=self.policy.work_folder) as folder:
                keys = derived_keys(job.workspace_id, job.document_id, job.version)
                work = _Work(job, job.stage, holding, Path(folder), keys, chosen=job.chosen)
                try:
                    if work.stage == "convert":
                        self._convert(work)
                    self._embed(work)
                finally:
                    stage, converted = work.stage, work.converted
        except LeaseLost:
            raise
        except WorkerStopped:
            self.stages.release(job)
        except WorkerDied as error:
            if self.shutdown.has_begun:  # the shutdown ended the process, not the file
                self.stages.release(job)
            else:
                self.failures.record(job, stage, error)
        except Exception as error:  # noqa: BLE001  the task's boundary: records the error, and the worker continues
            if converted:
                self.stages.converted(job, converted)
            self.failures.record(job, stage, error)
        return stage

    def _convert(self, work: _Work) -> None:
        job, output = work.job, work.folder / "output"
        output.mkdir()
        source = work.folder / "original"
        self.objects.get_file(original_key(job.workspace_id, job.content_hash), source)

        began = time.monotonic()
        tell_at = began + PROMPT_SECONDS

        def on_progress(progress: ConversionProgress) -> None:
            nonlocal tell_at
            if progress.stage == "chunk" and work.stage == "convert":
                self._begin(work, "chunk")
            if work.stage == "chunk" and time.monotonic() >= tell_at:
                self.stages.start_chunking(job)
                tell_at = inf
            work.holding.progress(progress.page, progress.pages)

        limits = limits_for(source, self.policy.limits)
        converted = self.converter.convert(
            source, job.name, job.document_id, output, limits, on_progress, workspace_id=job.workspace_id
        )
        # If the lease has expired, another worker may be writing the same objects.
        work.holding.check()
        self._store(work, output)
        is_prompt = time.monotonic() < began + PROMPT_SECONDS and converted.chunks <= BATCH
        if is_prompt and not job.losses:  # otherwise another loss could not be blamed on embedding
            work.converted = converted
        else:
            work.chosen = self.stages.converted(job, converted)
        self._begin(work, "embed")
        work.has_chunks = True
        self.metrics.pages.labels(format_of(job.name)).inc(converted.pages or 0)
        self.metrics.bytes.labels(format_of(job.name)).inc(job.file_size)

    def _begin(self, work: _Work, following: StageName) -> None:
        self._observe(work)
        work.stage, work.began = following, time.monotonic()

    def _observe(self, work: _Work) -> None:
        seconds = time.monotonic() - work.began
        self.metrics.stages.labels(work.stage, format_of(work.job.name)).observe(seconds)

    def _store(self, work: _Work, output: Path) -> None:
        self.objects.put_file(work.keys.markdown, output / "document.md", MEDIA_TYPES["markdown"])
        self.objects.put_file(work.keys.chunks, output / "chunks.jsonl", MEDIA_TYPES["chunks"])

    def _embed(self, work: _Work) -> None:
        """Embeds the chunks that this run, or an earlier one that crashed, has stored."""
        job, chunks = work.job, work.folder / "output" / "chunks.jsonl"
        if not work.has_chunks:
            self.objects.get_file(work.keys.chunks, chunks)
        vectors = self.vectors.make(job, work.chosen, chunks, work.holding, work.folder)
        path = work.folder / "vectors.npy"
        np.save(path, vectors.rows)
        work.holding.check()
        self.objects.put_file(work.keys.vectors, path)
        self.stages.embedded(job, work.converted, model=vectors.model, dims=vectors.dims)
        work.converted = None
        self._observe(work)
        counts = {"embedded": len(vectors.rows) - vectors.reused, "reused": vectors.reused}
        for result, count in counts.items():
            self.metrics.chunks.labels(result).inc(count)
        log.info("chunks embedded", extra={"document_id": str(job.document_id), **counts})

    def _clean_up(self, job: HeldStage) -> None:
        """Deletes objects that were written after the document was deleted, then lets its deletion continue."""
        if self.stages.is_deleted(job):
            late = self.objects.keys(derived_keys(job.workspace_id, job.document_id, job.version).prefix)
            if late:
                self.objects.delete(late)
            self.stages.abandon(job)
        log.info("lease lost", extra={"document_id": str(job.document_id), "stage": job.stage})
