"""Metrics of model usage for operators: of all workspaces together, by role and by the owner of the model."""

from __future__ import annotations

from itertools import product

from prometheus_client import CollectorRegistry, Histogram

from contracts.models import MODEL_ROLES
from inference.calls import CallEnd, ModelCall
from service_kit.readings import counter
from service_kit.tracing import model_call

OTHERS = "others"
SECONDS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)


class ModelMetrics:
    """`own` are the operator's provider and model. Models that workspaces choose are labelled `others`."""

    def __init__(self, own: tuple[str, str | None], registry: CollectorRegistry | None = None) -> None:
        self.own = own
        model = own[1]
        models = [model, OTHERS] if model else [OTHERS]
        self.calls = counter(
            "attractor_model_calls_total",
            "Calls to chat models, by how they ended",
            registry,
            role=MODEL_ROLES,
            model=models,
            ended=[end.value for end in CallEnd],
        )
        self.tokens = counter(
            "attractor_model_tokens_total",
            "Tokens of calls, estimated if the provider reports none; cached ones are part of the input",
            registry,
            role=MODEL_ROLES,
            model=models,
            kind=("input", "output", "cached", "thinking"),
        )
        self.cost = counter(
            "attractor_model_cost_total",
            "Cost of calls in the provider's currency, if it reports one",
            registry,
            role=MODEL_ROLES,
            model=models,
        )
        self.first_token = Histogram(
            "attractor_model_first_token_seconds",
            "Time from a call to its first token",
            ["role", "model"],
            buckets=SECONDS,
            registry=registry,
        )
        for role, name in product(MODEL_ROLES, models):
            self.first_token.labels(role, name)

    def count(self, call: ModelCall, end: CallEnd) -> None:
        """Counts a call that has ended."""
        name = call.model if (call.provider, call.model) == self.own else OTHERS
        usage, _ = call.counted
        self.calls.labels(call.role, name, end.value).inc()
        for kind in ("input", "output", "cached", "thinking"):
            self.tokens.labels(call.role, name, kind).inc(getattr(usage, f"{kind}_tokens"))
        self.cost.labels(call.role, name).inc(usage.cost or 0)
        attributes = {"gen_ai.request.model": name, "attractor.role": call.role, "attractor.ended": end.value}
        model_call("chat", call.clock() - call.began, attributes, succeeded=end is not CallEnd.failed)
        if call.first_token_ms is not None:
            self.first_token.labels(call.role, name).observe(call.first_token_ms / 1000)
