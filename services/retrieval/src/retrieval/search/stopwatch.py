"""Measures the steps of a search."""

from __future__ import annotations

import time


class Stopwatch:
    """Measures steps: `laps` has the milliseconds of each, in order."""

    def __init__(self) -> None:
        self.start = self.last = time.perf_counter()
        self.laps: dict[str, float] = {}

    def lap(self, step: str) -> None:
        """Ends a step, which began when the previous one ended."""
        now = time.perf_counter()
        self.laps[step] = round(1000 * (now - self.last), 2)
        self.last = now

    @property
    def milliseconds(self) -> float:
        """Returns the time since the start."""
        return round(1000 * (time.perf_counter() - self.start), 2)
