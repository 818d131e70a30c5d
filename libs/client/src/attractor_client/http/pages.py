"""Pages of a list, as one iterator."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TypeVar

from attractor_client.errors import UnexpectedAnswer
from attractor_client.http.transport import Parameters, Transport
from contracts.base import Page

T = TypeVar("T")
PAGE_SIZE = 100


async def every(
    transport: Transport, place: str, kind: type[Page[T]], params: Parameters | None = None
) -> AsyncIterator[T]:
    """Yields each item of a list; requests a page when its first item is needed."""
    cursor: str | None = None
    while True:
        page = await transport.get(place, kind, {"limit": PAGE_SIZE, **(params or {}), "cursor": cursor})
        for item in page.items:
            yield item
        if page.next_cursor is None:
            return
        if page.next_cursor == cursor:
            raise UnexpectedAnswer("The list never ends", f"{place} returned the same cursor twice")
        cursor = page.next_cursor
