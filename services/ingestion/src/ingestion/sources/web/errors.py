"""Reasons why a page cannot be read."""

from __future__ import annotations

from ingestion.sources.source import ItemRefused


class PageAway(Exception):
    """The page is unavailable now, but may exist. `retry_after` is in seconds, if the server gives it."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.message, self.retry_after = message, retry_after


class PageGone(Exception):
    """The page does not exist (404 or 410)."""


class StatusRefused(ItemRefused):
    """The server refuses the page, permanently as far as its status says."""

    def __init__(self, status: int, phrase: str) -> None:
        super().__init__(f"web-{status}", f"The server answers {phrase}.")
        self.status = status
