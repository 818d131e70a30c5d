"""What an error means for the stage in which it happened: pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import psycopg
from psycopg_pool import PoolTimeout

from inference.errors import CircuitOpen, EmbeddingError, ProviderUnavailable
from ingestion.conversion import ConversionError, WorkerDied
from service_kit.objects import ObjectMissing
from service_kit.problems import Unavailable

Retry = Literal["lost", "postponed"]
FIRST_DELAY_SECONDS, LONGEST_DELAY_SECONDS = 2.0, 120.0


@dataclass(frozen=True)
class Failure:
    """`retry` is None when the same would happen again: `lost` counts processes that died, `postponed` outages."""

    error_class: str
    message: str
    retry: Retry | None = None


def failure_of(error: Exception) -> Failure:
    match error:
        case WorkerDied():
            return Failure(error.error_class, str(error), "lost")
        case ConversionError():
            return Failure(error.error_class, str(error))
        case ObjectMissing():
            return Failure("object-missing", "The object store no longer has a file that this needs")
        case ProviderUnavailable() | CircuitOpen():
            return Failure("embedding-unavailable", str(error), "postponed")
        case EmbeddingError():
            return Failure("embedding-failed", str(error))
        case Unavailable():
            return Failure("store-unavailable", str(error), "postponed")
        case psycopg.OperationalError() | PoolTimeout():
            return Failure("store-unavailable", "The database did not answer", "postponed")
    return Failure("internal-error", f"An error of the service ({type(error).__name__}); its log says more")


def delay_after(tries: int) -> float:
    """Seconds, doubling with each try."""
    return min(FIRST_DELAY_SECONDS * 2.0**tries, LONGEST_DELAY_SECONDS)
