"""Classifies the errors of stages."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import psycopg
from psycopg_pool import PoolTimeout

from contracts.backoff import backoff
from contracts.ingestion import StageName
from inference.errors import CircuitOpen, ContextTooLong, EmbeddingError, ProviderUnavailable
from ingestion.conversion import ConversionError, DiskFull, WorkerDied
from ingestion.conversion.errors import ERROR_CLASSES
from ingestion.worker.embedding import UnknownModel
from service_kit.objects import ObjectMissing
from service_kit.problems import Unavailable

Retry = Literal["lost", "postponed"]
FIRST_DELAY_SECONDS, LONGEST_DELAY_SECONDS, LONGEST_EMBEDDING_DELAY_SECONDS = 2.0, 120.0, 900.0
FULL = {errno.ENOSPC, errno.EDQUOT}
NO_MEMORY = {errno.ENOMEM, errno.EAGAIN}  # EAGAIN: no process or thread could be started
EMBEDDING_FAILED, EMBEDDING_UNAVAILABLE = "embedding-failed", "embedding-unavailable"
EMBEDDING_MODEL_UNKNOWN, EMBEDDING_TEXT_TOO_LONG = "embedding-model-unknown", "embedding-text-too-long"
CHUNKS_MISSING, ORIGINAL_MISSING, STORE_UNAVAILABLE = "chunks-missing", "original-missing", "store-unavailable"
OUT_OF_MEMORY, SYSTEM_ERROR, INTERNAL_ERROR = "out-of-memory", "system-error", "internal-error"
_ANYWHERE = (DiskFull.error_class, OUT_OF_MEMORY, STORE_UNAVAILABLE, SYSTEM_ERROR, INTERNAL_ERROR)
EXPECTED: Mapping[StageName, frozenset[str]] = {
    "convert": frozenset({*ERROR_CLASSES, *_ANYWHERE, ORIGINAL_MISSING}),
    "chunk": frozenset({*ERROR_CLASSES, *_ANYWHERE, ORIGINAL_MISSING}),
    "embed": frozenset(
        {*_ANYWHERE, CHUNKS_MISSING, EMBEDDING_FAILED, EMBEDDING_UNAVAILABLE}
        | {EMBEDDING_MODEL_UNKNOWN, EMBEDDING_TEXT_TOO_LONG}
    ),
}
"""The error classes that each stage of a worker may have"""


@dataclass(frozen=True)
class Failure:
    """`retry` names the counter of retries, `lost` processes or `postponed` outages; None if a retry cannot help."""

    error_class: str
    message: str
    retry: Retry | None = None


def failure_of(error: Exception, stage: StageName) -> Failure:
    """Classifies an error by itself and its causes."""
    for cause in _causes(error):
        if isinstance(cause, OSError) and cause.errno in FULL:
            return Failure(DiskFull.error_class, "The worker has no space left for its files", "postponed")
        if isinstance(cause, MemoryError) or (isinstance(cause, OSError) and cause.errno in NO_MEMORY):
            return Failure(OUT_OF_MEMORY, "The worker has no memory left", "postponed")
    return _conversion_failure(error) or _embedding_failure(error) or _store_failure(error, stage)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _conversion_failure(error: Exception) -> Failure | None:
    match error:
        case WorkerDied():
            return Failure(error.error_class, str(error), "lost")
        case DiskFull():
            return Failure(error.error_class, str(error), "postponed")
        case ConversionError():
            return Failure(error.error_class, str(error))
    return None


def _embedding_failure(error: Exception) -> Failure | None:
    match error:
        case UnknownModel():
            return Failure(EMBEDDING_MODEL_UNKNOWN, str(error))
        case ContextTooLong():
            return Failure(EMBEDDING_TEXT_TOO_LONG, str(error))
        case ProviderUnavailable() | CircuitOpen():
            return Failure(EMBEDDING_UNAVAILABLE, str(error), "postponed")
        case EmbeddingError():
            # Even errors that look final, such as a rejected key: a retry succeeds once the operator has fixed them.
            return Failure(EMBEDDING_FAILED, str(error), "postponed")
    return None


def _store_failure(error: Exception, stage: StageName) -> Failure:
    match error:
        case ObjectMissing() if stage == "embed":
            return Failure(CHUNKS_MISSING, "The object store no longer has the chunks of this document")
        case ObjectMissing():
            return Failure(ORIGINAL_MISSING, "The object store no longer has the original of this document")
        case Unavailable():
            return Failure(STORE_UNAVAILABLE, str(error), "postponed")
        case psycopg.OperationalError() | PoolTimeout():
            return Failure(STORE_UNAVAILABLE, "The database did not answer", "postponed")
        case OSError(errno=int(number)):
            return Failure(SYSTEM_ERROR, f"System error in the worker: {os.strerror(number)}", "postponed")
    return Failure(INTERNAL_ERROR, f"Internal error ({type(error).__name__}); see the worker's log")


def delay_after(tries: int, longest: float = LONGEST_DELAY_SECONDS) -> float:
    """Returns the delay in seconds, which doubles with each attempt."""
    return backoff(tries + 1, FIRST_DELAY_SECONDS, longest)
