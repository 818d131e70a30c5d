"""Metrics of legs: how long they take, and how often one is left out."""

from __future__ import annotations

from itertools import product

from prometheus_client import CollectorRegistry, Histogram

from retrieval.reading.leg import Leg

LEGS = ("lexical", "dense", "named", "residual", "graph", "bridges", "rerank")
RESULTS = ("answered", "left_out")
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
        for leg, result in product(LEGS, RESULTS):
            self.seconds.labels(leg, result)

    def observe(self, name: str, leg: Leg) -> None:
        """Counts a leg under one of LEGS."""
        self.seconds.labels(name, "left_out" if leg.error else "answered").observe(leg.milliseconds / 1000)
