from __future__ import annotations

import errno

import psycopg
import pytest

from contracts.ingestion import StageName
from inference.errors import ContextTooLong, ProviderRejected, ProviderUnavailable, WrongEmbeddings
from ingestion.conversion import DiskFull, PasswordProtected, WorkerDied
from ingestion.worker.embedding import UnknownModel
from ingestion.worker.failures import EXPECTED, LONGEST_EMBEDDING_DELAY_SECONDS, delay_after, failure_of
from service_kit.objects import ObjectMissing
from service_kit.problems import Unavailable


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("error", "stage", "error_class", "retry"),
    [
        (PasswordProtected("locked"), "convert", "password-protected", None),
        (WorkerDied("gone"), "convert", "worker-died", "lost"),
        (ObjectMissing("key"), "convert", "original-missing", None),
        (ObjectMissing("key"), "embed", "chunks-missing", None),
        (Unavailable("away"), "convert", "store-unavailable", "postponed"),
        (psycopg.OperationalError("away"), "convert", "store-unavailable", "postponed"),
        (ProviderUnavailable("away"), "embed", "embedding-unavailable", "postponed"),
        (ProviderRejected("no such key", status=401), "embed", "embedding-failed", "postponed"),
        (WrongEmbeddings("zero"), "embed", "embedding-failed", "postponed"),
        (ContextTooLong("512 tokens", status=400), "embed", "embedding-text-too-long", None),
        (UnknownModel("not here"), "embed", "embedding-model-unknown", None),
        (FULL, "convert", "disk-full", "postponed"),
        (DiskFull("no space"), "chunk", "disk-full", "postponed"),
        (caused(Unavailable("the object store does not answer"), FULL), "convert", "disk-full", "postponed"),
        (MemoryError(), "embed", "out-of-memory", "postponed"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "convert", "out-of-memory", "postponed"),
        (PermissionError(errno.EACCES, "Permission denied", "/secret"), "convert", "system-error", "postponed"),
        (KeyError("secret"), "convert", "internal-error", None),
    ],
)
def test_failures_are_classified_and_only_outages_are_retried(
    error: Exception, stage: StageName, error_class: str, retry: str | None
) -> None:
    failure = failure_of(error, stage)
    assert (failure.error_class, failure.retry) == (error_class, retry)
    assert error_class in EXPECTED[stage], "else its first one is no increase"
    assert "secret" not in failure.message


def test_retry_delays_grow_up_to_a_maximum() -> None:
    assert [delay_after(tries) for tries in (0, 1, 2, 20)] == [2, 4, 8, 120]
    assert [delay_after(tries, LONGEST_EMBEDDING_DELAY_SECONDS) for tries in (6, 20, 10_000)] == [128, 900, 900]
