"""What refinement costs and how it goes, for the operator's dashboards."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter

from knowledge_graph.refinement.records import Outcome


class RefinementMetrics:
    """Of this process since it started; what runs have spent in all stands in the runs."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.calls = Counter(
            "attractor_graph_refinement_calls_total",
            "Passages asked about, by what came of it: answered, unreadable (paid for), refused, failed (no answer)",
            ["result"],
            registry=registry,
        )
        self.tokens = Counter(
            "attractor_graph_refinement_tokens_total",
            "Tokens of the calls, as far as the provider tells (else estimated), by kind: input or output",
            ["kind"],
            registry=registry,
        )

    def count(self, outcome: Outcome) -> None:
        result = "answered" if outcome.findings is not None else "unreadable" if outcome.spent.calls else "refused"
        self.calls.labels(result).inc()
        self.tokens.labels("input").inc(outcome.spent.input_tokens)
        self.tokens.labels("output").inc(outcome.spent.output_tokens)

    def fail(self) -> None:
        """No answer came."""
        self.calls.labels("failed").inc()
