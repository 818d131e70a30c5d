from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ingestion.documents.listing import seconds_left

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("left", "done", "since", "seconds"),
    [
        (0, 0, None, 0.0),
        (10, 0, None, None),
        (10, 100, NOW - timedelta(seconds=50), 5.0),
        (100, 10, NOW - timedelta(minutes=5), 3000.0),
        (100, 50, NOW, 10.0),  # rates at the very beginning are not trusted
    ],
)
def test_the_remaining_time_is_estimated_from_the_recent_rate(
    left: int, done: int, since: datetime | None, seconds: float | None
) -> None:
    assert seconds_left(left, done, since, NOW) == seconds
