from __future__ import annotations

import psycopg
import pytest

from inference.errors import ProviderUnavailable, WrongEmbeddings
from ingestion.conversion import PasswordProtected, WorkerDied
from ingestion.worker.failures import delay_after, failure_of
from service_kit.objects import ObjectMissing
from service_kit.problems import Unavailable


@pytest.mark.parametrize(
    ("error", "error_class", "retry"),
    [
        (PasswordProtected("locked"), "password-protected", None),
        (WorkerDied("gone"), "worker-died", "lost"),
        (ObjectMissing("key"), "object-missing", None),
        (Unavailable("away"), "store-unavailable", "postponed"),
        (psycopg.OperationalError("away"), "store-unavailable", "postponed"),
        (ProviderUnavailable("away"), "embedding-unavailable", "postponed"),
        (WrongEmbeddings("zero"), "embedding-failed", None),
        (KeyError("secret"), "internal-error", None),
    ],
)
def test_only_what_may_pass_is_tried_again(error: Exception, error_class: str, retry: str | None) -> None:
    failure = failure_of(error)
    assert (failure.error_class, failure.retry) == (error_class, retry)
    assert "secret" not in failure.message


def test_delays_grow_up_to_a_bound() -> None:
    assert [delay_after(tries) for tries in (0, 1, 2, 20)] == [2, 4, 8, 120]
