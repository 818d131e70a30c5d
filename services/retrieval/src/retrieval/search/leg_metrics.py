"""Metrics of legs: how long they take, and how often one is left out."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram

from retrieval.reading.leg import Timed

SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)


class LegMetrics:
    """Observes finished legs. `bridges` is the graph's second request, `residual` the dense leg without known names."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.seconds = Histogram(
            "attractor_search_leg_seconds",
            "Duration of search legs, without searches answered from the cache",
            ["leg", "result"],
            buckets=SECONDS,
            registry=registry,
        )
        self.without = Counter(
            "attractor_search_without_leg_total",
            "Answers without a part of a leg, because it was late or failed; each counts once for the leg",
            ["leg"],
            registry=registry,
        )

    def known(self, legs: Iterable[str], rounds: Iterable[str]) -> None:
        """Shows these legs and their second rounds from the start, with no searches yet."""
        for leg in legs:
            self.without.labels(leg)
        for name in [*legs, *rounds]:
            for result in ("answered", "left_out"):
                self.seconds.labels(name, result)

    def observe(self, name: str, part: Timed, milliseconds: float) -> None:
        """Counts a leg, or its second round."""
        self.seconds.labels(name, "left_out" if part.error else "answered").observe(milliseconds / 1000)

    def answered(self, left_out: Iterable[str]) -> None:
        """Counts an answer that went without these legs, in one of its wordings or in all."""
        for leg in set(left_out):
            self.without.labels(leg).inc()
