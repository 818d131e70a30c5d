"""Pages of lists that are ordered by creation time and id. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, TypeVar
from uuid import UUID

from fastapi import Depends

from contracts.base import Page
from service_kit.pagination import Cursor, Limit, decode_cursor, encode_cursor

T = TypeVar("T")


@dataclass(frozen=True)
class Place:
    """Where a page starts and how many items it has."""

    limit: int
    at: datetime | None
    after: UUID | None

    def values(self) -> dict[str, Any]:
        """Asks for one row more than the limit: it tells whether there is a next page."""
        return {"limit": self.limit + 1, "at": self.at, "after": self.after}


def requested(limit: Limit = 50, cursor: Cursor = None) -> Place:
    """A dependency; raises BadCursor."""
    return Place(limit, *decode_cursor(cursor))


Requested = Annotated[Place, Depends(requested)]


def page(rows: list[T], place: Place, sort_key: Callable[[T], tuple[datetime, UUID]]) -> Page[T]:
    items = rows[: place.limit]
    return Page(items=items, next_cursor=encode_cursor(*sort_key(items[-1])) if len(rows) > place.limit else None)
