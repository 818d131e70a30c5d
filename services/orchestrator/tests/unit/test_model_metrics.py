"""Metrics of models: only operators determine their labels."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from inference.calls import CallEnd, ModelCall
from inference.chat import Usage
from orchestrator.usage.model_metrics import ModelMetrics


def test_metrics_name_the_models_of_the_operator_and_not_those_chosen_by_workspaces() -> None:
    registry = CollectorRegistry()
    metrics = ModelMetrics(("operator", "small"), registry)
    for provider, model in (("operator", "small"), ("operator", "chosen"), ("theirs", "small")):
        call = ModelCall("answer", provider, model, 10, 20, usage=Usage(100, 5, cost=0.25), first_token_ms=300.0)
        metrics.count(call, CallEnd.completed)
    for name, count in (("small", 1), ("others", 2)):
        labels = {"role": "answer", "model": name}
        assert registry.get_sample_value("attractor_model_cost_total", labels) == count * 0.25
        assert registry.get_sample_value("attractor_model_tokens_total", labels | {"kind": "input"}) == count * 100
        assert registry.get_sample_value("attractor_model_first_token_seconds_count", labels) == count
    named = {sample.labels.get("model") for one in registry.collect() for sample in one.samples}
    assert named == {"small", "others"}


def test_the_first_failure_shows_as_an_increase() -> None:
    registry = CollectorRegistry()
    ModelMetrics(("operator", None), registry)
    labels = {"role": "answer", "model": "others", "ended": "failed"}
    assert registry.get_sample_value("attractor_model_calls_total", labels) == 0
