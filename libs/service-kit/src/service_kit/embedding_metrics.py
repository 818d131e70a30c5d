"""Metrics of embedding models: number and duration of calls, number of texts."""

from __future__ import annotations

from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Histogram

from service_kit.tracing import model_call

RESULTS = ("succeeded", "failed")
SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)


class EmbeddingMetrics:
    """The metrics of one process. Models are those that the operator has configured, never what a caller names."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.seconds = Histogram(
            "attractor_embedding_seconds",
            "Duration of calls to embedding models, including retries",
            ["use", "model", "result"],
            buckets=SECONDS,
            registry=registry,
        )
        self.texts = Counter(
            "attractor_embedded_texts_total", "Texts that got a vector", ["use", "model"], registry=registry
        )

    def of(self, use: str) -> EmbeddingUse:
        """Returns the recorder of calls for one use, such as `query`."""
        return EmbeddingUse(self, use)


@dataclass(frozen=True)
class EmbeddingUse:
    """An `inference.embedders.EmbeddingWatch`."""

    metrics: EmbeddingMetrics
    use: str

    def __call__(self, model: str, texts: int, seconds: float, *, succeeded: bool) -> None:
        self.metrics.seconds.labels(self.use, model, RESULTS[0] if succeeded else RESULTS[1]).observe(seconds)
        model_call("embeddings", seconds, {"gen_ai.request.model": model}, succeeded=succeeded)
        if succeeded:
            self.metrics.texts.labels(self.use, model).inc(texts)

    def expect(self, model: str) -> None:
        """Starts the model's series at 0."""
        self.metrics.texts.labels(self.use, model)
        for result in RESULTS:
            self.metrics.seconds.labels(self.use, model, result)
