import pytest

from ingestion.documents.errors import RangeNotSatisfiable
from ingestion.documents.ranges import is_known, wanted_range

ETAG = '"abc"'


@pytest.mark.parametrize(
    ("header", "part"),
    [
        ("bytes=0-9", (0, 10)),
        ("bytes=90-", (90, 100)),
        ("bytes=90-900", (90, 100)),
        ("bytes=-10", (90, 100)),
        ("bytes=-900", (0, 100)),
    ],
)
def test_a_part_of_the_file_is_served(header: str, part: tuple[int, int]) -> None:
    found = wanted_range(header, None, ETAG, 100)
    assert found is not None
    assert (found.start, found.end) == part


@pytest.mark.parametrize("header", [None, "bytes=-", "bytes=0-1,3-4", "bytes=9-1", "lines=1-2", "bytes=a-b", "bytes"])
def test_whatever_is_not_one_part_is_answered_with_the_whole(header: str | None) -> None:
    assert wanted_range(header, None, ETAG, 100) is None


@pytest.mark.parametrize("header", ["bytes=100-", "bytes=100-200", "bytes=-0"])
def test_a_part_after_the_end_is_refused(header: str) -> None:
    with pytest.raises(RangeNotSatisfiable) as refused:
        wanted_range(header, None, ETAG, 100)
    assert refused.value.headers == {"Content-Range": "bytes */100"}


def test_a_part_of_another_version_is_answered_with_the_whole() -> None:
    assert wanted_range("bytes=0-9", '"old"', ETAG, 100) is None
    assert wanted_range("bytes=0-9", ETAG, ETAG, 100) is not None


def test_a_caller_may_have_the_file_already() -> None:
    assert is_known(ETAG, ETAG)
    assert is_known('"old", W/"abc"', ETAG)
    assert is_known("*", ETAG)
    assert not is_known(None, ETAG)
    assert not is_known('"old"', ETAG)
