"""Cursor pagination: a cursor is the sort key of a page's last item, opaque to callers."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, TypeVar, overload
from uuid import UUID

from fastapi import Query

from contracts.base import Page, storable
from service_kit.problems import BadCursor

Limit = Annotated[int, Query(ge=1, le=200, description="Maximum number of items on a page")]
Cursor = Annotated[str | None, Query(max_length=500, description="`next_cursor` of the previous page")]
Row = TypeVar("Row")
Item = TypeVar("Item")
First = TypeVar("First", datetime, UUID, str, int)
Second = TypeVar("Second", datetime, UUID, str, int)
Third = TypeVar("Third", datetime, UUID, str, int)
READERS: dict[type, Callable[[Any], Any]] = {datetime: datetime.fromisoformat, UUID: UUID}


@overload
def page(rows: Sequence[Row], limit: int, key: Callable[[Row], tuple[object, ...]]) -> Page[Row]: ...
@overload
def page(
    rows: Sequence[Row], limit: int, key: Callable[[Row], tuple[object, ...]], item: Callable[[Row], Item]
) -> Page[Item]: ...
def page(
    rows: Sequence[Any],
    limit: int,
    key: Callable[[Any], tuple[object, ...]],
    item: Callable[[Any], Any] | None = None,
) -> Page[Any]:
    """Returns the first `limit` rows, converted by `item`, and the last one's cursor if there are more.

    Ask the database for `limit + 1` rows; `key` is what the list is sorted by.
    """
    kept = rows[:limit]
    following = encode_cursor(*key(kept[-1])) if len(rows) > limit else None
    return Page(items=[item(row) for row in kept] if item else list(kept), next_cursor=following)


def encode_cursor(*key: object) -> str:
    """Returns the cursor for a sort key of times, UUIDs, texts and numbers."""
    text = json.dumps([part.isoformat() if isinstance(part, datetime) else part for part in key], default=str)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@overload
def decode_cursor(cursor: str | None, /) -> tuple[datetime | None, UUID | None]: ...
@overload
def decode_cursor(cursor: str | None, first: type[First], /) -> tuple[First | None]: ...
@overload
def decode_cursor(
    cursor: str | None, first: type[First], second: type[Second], /
) -> tuple[First | None, Second | None]: ...
@overload
def decode_cursor(
    cursor: str | None, first: type[First], second: type[Second], third: type[Third], /
) -> tuple[First | None, Second | None, Third | None]: ...
def decode_cursor(cursor: str | None, /, *kinds: type) -> tuple[Any, ...]:
    """Returns the sort key in a cursor, by default a time and an id; None for each part without a cursor.

    Raises BadCursor if the list did not issue it: texts must be storable, numbers between 0 and 2^63 - 1.
    """
    kinds = kinds or (datetime, UUID)
    if cursor is None:
        return (None,) * len(kinds)
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if not isinstance(values, list) or len(values) != len(kinds):
            raise BadCursor
        return tuple(_read(value, kind) for value, kind in zip(values, kinds, strict=True))
    except (ValueError, TypeError, AttributeError) as error:
        raise BadCursor from error


def _read(value: Any, kind: type) -> Any:
    if kind is int:
        if type(value) is not int or not 0 <= value < 2**63:
            raise BadCursor
        return value
    if not isinstance(value, str):
        raise BadCursor
    return READERS[kind](value) if kind in READERS else storable(value)
