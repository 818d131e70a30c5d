"""Classifies the errors of stages."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import psycopg
from psycopg_pool import PoolTimeout

from contracts.backoff import backoff
from contracts.ingestion import StageName
from inference.errors import CircuitOpen, ContextTooLong, EmbeddingError, ProviderUnavailable
from ingestion.conversion import ConversionError, DiskFull, WorkerDied
from ingestion.worker.embedding import UnknownModel
from service_kit.objects import ObjectMissing
from service_kit.problems import Unavailable

Retry = Literal["lost", "postponed"]
FIRST_DELAY_SECONDS, LONGEST_DELAY_SECONDS, LONGEST_EMBEDDING_DELAY_SECONDS = 2.0, 120.0, 900.0
FULL = {errno.ENOSPC, errno.EDQUOT}
NO_MEMORY = {errno.ENOMEM, errno.EAGAIN}  # EAGAIN: no process or thread could be started


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
            return Failure("disk-full", "The worker has no space left for its files", "postponed")
        if isinstance(cause, MemoryError) or (isinstance(cause, OSError) and cause.errno in NO_MEMORY):
            return Failure("out-of-memory", "The worker has no memory left", "postponed")
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
            return Failure("embedding-model-unknown", str(error))
        case ContextTooLong():
            return Failure("embedding-text-too-long", str(error))
        case ProviderUnavailable() | CircuitOpen():
            return Failure("embedding-unavailable", str(error), "postponed")
        case EmbeddingError():
            # Even errors that look final, such as a rejected key: a retry succeeds once the operator has fixed them.
            return Failure("embedding-failed", str(error), "postponed")
    return None


def _store_failure(error: Exception, stage: StageName) -> Failure:
    match error:
        case ObjectMissing() if stage == "embed":
            return Failure("chunks-missing", "The object store no longer has the chunks of this document")
        case ObjectMissing():
            return Failure("original-missing", "The object store no longer has the original of this document")
        case Unavailable():
            return Failure("store-unavailable", str(error), "postponed")
        case psycopg.OperationalError() | PoolTimeout():
            return Failure("store-unavailable", "The database did not answer", "postponed")
        case OSError(errno=int(number)):
            return Failure("system-error", f"System error in the worker: {os.strerror(number)}", "postponed")
    return Failure("internal-error", f"Internal error ({type(error).__name__}); see the worker's log")


def delay_after(tries: int, longest: float = LONGEST_DELAY_SECONDS) -> float:
    """Returns the delay in seconds, which doubles with each attempt."""
    return backoff(tries + 1, FIRST_DELAY_SECONDS, longest)
