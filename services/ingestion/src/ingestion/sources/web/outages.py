"""Decides when so many pages are unavailable that the whole site counts as unavailable."""

from __future__ import annotations

from ingestion.sources.source import SourceUnavailable

IN_A_ROW = 5
AT_LEAST = 3
SHARE = 0.25


class Outages:
    """Counts pages that responded and pages that did not."""

    def __init__(self) -> None:
        self.requests = self.failures = self.in_a_row = 0
        self.last = ""

    def answered(self) -> None:
        self.requests += 1
        self.in_a_row = 0

    def failed(self, message: str) -> None:
        """Counts a failure; raises SourceUnavailable after several in a row, so that the rest is not tried."""
        self.requests, self.failures, self.in_a_row = self.requests + 1, self.failures + 1, self.in_a_row + 1
        self.last = message
        if self.in_a_row >= IN_A_ROW:
            raise self._unavailable()

    def judge(self) -> None:
        """Raises SourceUnavailable if a large share of all pages failed."""
        if self.failures >= AT_LEAST and self.failures > SHARE * self.requests:
            raise self._unavailable()

    def _unavailable(self) -> SourceUnavailable:
        return SourceUnavailable(
            "web-away", f"{self.failures} of {self.requests} pages could not be had, the last one because: {self.last}"
        )
