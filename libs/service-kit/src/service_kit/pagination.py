"""Cursor pagination: a cursor is the sort key of the last item, opaque to callers."""

from __future__ import annotations

import base64
import json
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Query

from service_kit.problems import BadCursor

Limit = Annotated[int, Query(ge=1, le=200, description="Items on a page")]
Cursor = Annotated[str | None, Query(max_length=500, description="next_cursor of the page before")]


def encode_cursor(at: datetime, item_id: UUID) -> str:
    return base64.urlsafe_b64encode(json.dumps([at.isoformat(), str(item_id)]).encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None) -> tuple[datetime | None, UUID | None]:
    """(None, None) without a cursor; raises BadCursor when it is not one of ours."""
    if cursor is None:
        return None, None
    try:
        at, item_id = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return datetime.fromisoformat(at), UUID(item_id)
    except (ValueError, TypeError) as error:
        raise BadCursor from error


def encode_numbers(*numbers: int) -> str:
    """A cursor for lists that are sorted by numbers."""
    return base64.urlsafe_b64encode(json.dumps(numbers).encode()).decode().rstrip("=")


def decode_numbers(cursor: str, count: int) -> tuple[int, ...]:
    """`count` numbers from 0 to 2^63 - 1; raises BadCursor when it is not one of ours."""
    try:
        numbers = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except ValueError as error:
        raise BadCursor from error
    if not isinstance(numbers, list) or len(numbers) != count:
        raise BadCursor
    if not all(type(number) is int and 0 <= number < 2**63 for number in numbers):
        raise BadCursor
    return tuple(numbers)
