"""Decides what happens when a stage fails."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from contracts.ingestion import StageName
from ingestion.conversion import ConversionError, Limits
from ingestion.documents.rows import HeldStage
from ingestion.worker.failures import LONGEST_EMBEDDING_DELAY_SECONDS, Failure, delay_after, failure_of
from ingestion.worker.metrics import WorkerMetrics
from ingestion.worker.stages import StageRecords

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ProcessingPolicy:
    """Limits of one conversion, and of retries."""

    limits: Limits
    max_losses: int
    max_postponements: int
    embed_max_postponements: int
    work_folder: Path


class FailureRecorder:
    """Postpones a failed stage with growing delays, or gives it up; both record the reason."""

    def __init__(self, stages: StageRecords, policy: ProcessingPolicy, metrics: WorkerMetrics) -> None:
        self.stages, self.policy, self.metrics = stages, policy, metrics

    def record(self, job: HeldStage, stage: StageName, error: Exception) -> None:
        """Records the failure. Raises LeaseLost, and errors of the database."""
        failure = failure_of(error, stage)
        self.metrics.failures.labels(stage, failure.error_class).inc()
        extra = {"document_id": str(job.document_id), "stage": stage, "reason": failure.error_class}
        log.warning("stage failed", extra=extra, exc_info=None if isinstance(error, ConversionError) else error)
        if stage == "embed" and failure.error_class != "chunks-missing":
            self._not_embedded(job, failure)
        elif failure.retry:
            self._retry(job, stage, failure)
        else:
            self.stages.fail(job, stage, failure.error_class, failure.message)

    def _retry(self, job: HeldStage, stage: StageName, failure: Failure) -> None:
        lost = failure.retry == "lost"
        tried, allowed = (
            (job.losses, self.policy.max_losses) if lost else (job.postponements, self.policy.max_postponements)
        )
        if tried + 1 < allowed:
            self.stages.postpone(job, delay_after(tried), failure.error_class, failure.message, lost=lost)
        else:
            self.stages.fail(job, stage, failure.error_class, _with_tries(failure, tried + 1))

    def _not_embedded(self, job: HeldStage, failure: Failure) -> None:
        """Publishes the document without vectors: its chunks are stored, so lexical search finds it."""
        tried = job.postponements if job.stage == "embed" else 0  # otherwise they are the conversion's
        if failure.retry and tried + 1 < self.policy.embed_max_postponements:
            delay = delay_after(tried, LONGEST_EMBEDDING_DELAY_SECONDS)
            self.stages.not_embedded(job, delay, failure.error_class, failure.message)
        else:
            message = _with_tries(failure, tried + 1) if failure.retry else failure.message
            self.stages.not_embedded(job, None, failure.error_class, message)


def _with_tries(failure: Failure, times: int) -> str:
    return f"{failure.message} (tried {times} times)"
