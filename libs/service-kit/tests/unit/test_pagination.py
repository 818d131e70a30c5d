from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_kit.pagination import decode_cursor, encode_cursor, page
from service_kit.problems import BadCursor

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@given(st.datetimes(timezones=st.just(UTC)), st.uuids())
def test_a_time_and_an_id_round_trip(at: datetime, item_id: UUID) -> None:
    assert decode_cursor(encode_cursor(at, item_id)) == (at, item_id)


@given(st.integers(0, 2**63 - 1), TEXT)
def test_a_number_and_a_text_round_trip(number: int, text: str) -> None:
    assert decode_cursor(encode_cursor(number, text), int, str) == (number, text)


def test_without_a_cursor_every_part_is_none() -> None:
    assert decode_cursor(None) == (None, None)
    assert decode_cursor(None, str) == (None,)
    assert decode_cursor(None, int, int, int) == (None, None, None)


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "²",
        encode_cursor(),
        encode_cursor(1),
        encode_cursor(1, 2),
        encode_cursor(-1, "a"),
        encode_cursor(2**63, "a"),
        encode_cursor(True, "a"),
        encode_cursor(1.0, "a"),
        encode_cursor(1, "a\0"),
        encode_cursor(1, "\ud800"),
        encode_cursor(1, None),
        encode_cursor(1, "a", "b"),
        encode_cursor("1", "a"),
        "e30",
    ],
)
def test_a_cursor_from_another_list_is_refused(cursor: str) -> None:
    with pytest.raises(BadCursor):
        decode_cursor(cursor, int, str)


@pytest.mark.parametrize("cursor", [encode_cursor("soon", "x"), encode_cursor(1, 2), encode_cursor("2026-01-01", "x")])
def test_malformed_times_and_ids_are_refused(cursor: str) -> None:
    with pytest.raises(BadCursor):
        decode_cursor(cursor)


def test_a_page_has_a_cursor_only_if_more_follow() -> None:
    rows = [3, 1, 4]
    assert page(rows, 3, lambda row: (row,)).next_cursor is None
    found = page(rows, 2, lambda row: (row,), str)
    assert (found.items, decode_cursor(found.next_cursor, int)) == (["3", "1"], (1,))
    assert page([], 1, lambda row: (row,)).items == []
