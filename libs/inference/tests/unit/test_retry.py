from datetime import UTC, datetime

import pytest

from inference.errors import ProviderRejected, ProviderUnavailable
from inference.retry import RetryPolicy, retry_after_seconds

NOW = datetime(2026, 1, 1, tzinfo=UTC)


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
def test_retry_after(header: str | None, seconds: float | None) -> None:
    assert retry_after_seconds(header, NOW) == seconds


@pytest.mark.parametrize(
    ("error", "tries"), [(ProviderUnavailable("busy"), 3), (ProviderRejected("no", status=400), 1)]
)
async def test_the_last_error_is_raised(error: Exception, tries: int) -> None:
    tried = []

    async def attempt() -> None:
        tried.append(1)
        raise error

    with pytest.raises(type(error)):
        await RetryPolicy(attempts=3, first_seconds=0.001).run(attempt)
    assert len(tried) == tries
