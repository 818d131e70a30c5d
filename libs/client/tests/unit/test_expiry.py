from datetime import UTC, datetime, timedelta

import pytest

from attractor_client.commands.expiry import moment

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "after"), [("12h", timedelta(hours=12)), ("90d", timedelta(days=90)), (" 8w ", timedelta(weeks=8))]
)
def test_a_duration_counts_from_now(text, after):
    assert moment(text, NOW) == NOW + after


def test_a_date_means_its_local_midnight_and_a_time_keeps_its_offset():
    assert moment("2027-06-30") == datetime(2027, 6, 30).astimezone()
    assert moment("2027-06-30T12:00:00+02:00") == datetime(2027, 6, 30, 10, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "soon", "90", "-3d", "3m", "2027-13-01", "999999d"])
def test_any_other_expiry_is_refused_with_examples(text):
    with pytest.raises(ValueError, match="90d"):
        moment(text)
