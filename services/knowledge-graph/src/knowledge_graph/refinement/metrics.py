"""Metrics of the refinement."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from knowledge_graph.refinement.records import CallOutcome
from service_kit.readings import counter


class RefinementMetrics:
    """Counters since the process started; the totals of a workspace are in its status."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.calls = counter(
            "attractor_graph_refinement_calls_total",
            "Calls of the chat model, one per chunk: answered, unreadable (paid for), refused, failed (no answer)",
            registry,
            result=("answered", "unreadable", "refused", "failed"),
        )
        self.tokens = counter(
            "attractor_graph_refinement_tokens_total",
            "Tokens spent on refinement by kind (input, output), as counted by the provider or else estimated",
            registry,
            kind=("input", "output"),
        )

    def count(self, outcome: CallOutcome) -> None:
        result = "answered" if outcome.findings is not None else "unreadable" if outcome.cost.calls else "refused"
        self.calls.labels(result).inc()
        self.tokens.labels("input").inc(outcome.cost.input_tokens)
        self.tokens.labels("output").inc(outcome.cost.output_tokens)

    def fail(self) -> None:
        """Counts a call without an answer."""
        self.calls.labels("failed").inc()
