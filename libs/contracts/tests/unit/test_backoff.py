from datetime import UTC, datetime

import pytest

from contracts.backoff import backoff, retry_after_seconds

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(("attempt", "seconds"), [(0, 2), (1, 2), (2, 4), (3, 8), (4, 10), (10_000, 10)])
def test_delays_double_up_to_the_maximum(attempt: int, seconds: float) -> None:
    assert backoff(attempt, 2, 10) == seconds


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("7", 7),
        ("Thu, 01 Jan 2026 00:00:30 GMT", 30),
        ("Thu, 01 Jan 2026 00:00:30 -0000", 30),
        ("Wed, 31 Dec 2025 00:00:00 GMT", 0),
    ],
)
def test_retry_after_is_honoured(header: str | None, seconds: float | None) -> None:
    assert retry_after_seconds(header, NOW) == seconds
