"""What can come of asking for a page, other than the page."""

from __future__ import annotations

from ingestion.sources.source import ItemRefused


class PageAway(Exception):
    """It cannot be had now, which says nothing of whether it exists. `retry_after` in seconds, when the server says."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.message, self.retry_after = message, retry_after


class PageGone(Exception):
    """The server says that there is no such page (404 or 410)."""


class StatusRefused(ItemRefused):
    """The server does not give the page, for good as far as it says."""

    def __init__(self, status: int, phrase: str) -> None:
        super().__init__(f"web-{status}", f"The server answers {phrase}.")
        self.status = status
