from __future__ import annotations

import asyncio
from collections.abc import Iterable

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric

from service_kit.embedding_metrics import EmbeddingMetrics
from service_kit.readings import Readings, counter, gauge
from service_kit.telemetry import Metrics, RequestTelemetry


async def test_gauges_are_read_on_scrape_and_a_failing_one_does_not_affect_others() -> None:
    registry = CollectorRegistry()
    readings = Readings(registry)
    seen = {"rows": 3}

    async def rows() -> Iterable[Metric]:
        return [gauge("attractor_rows", "Rows", seen["rows"])]

    async def away() -> Iterable[Metric]:
        if "away" in seen:
            raise ConnectionError("it is away")
        return [gauge("attractor_away", "Rows elsewhere", 1)]

    readings.add("rows", rows)
    readings.add("elsewhere", away)
    failed = ("attractor_readings_failed_total", {"reading": "elsewhere"})
    assert registry.get_sample_value(*failed) == 0
    await readings.refresh()
    assert (registry.get_sample_value("attractor_rows"), registry.get_sample_value("attractor_away")) == (3, 1)
    seen |= {"rows": 4, "away": 1}
    await readings.refresh()
    assert (registry.get_sample_value("attractor_rows"), registry.get_sample_value("attractor_away")) == (4, None)
    assert registry.get_sample_value(*failed) == 1


async def test_a_hanging_reading_does_not_block_the_metrics(monkeypatch) -> None:
    monkeypatch.setattr("service_kit.readings.DEADLINE_SECONDS", 0.01)
    registry = CollectorRegistry()
    readings = Readings(registry)

    async def endless() -> Iterable[Metric]:
        await asyncio.Event().wait()
        return []

    readings.add("endless", endless)
    async with asyncio.timeout(60):
        await readings.refresh()
    assert registry.get_sample_value("attractor_readings_failed_total", {"reading": "endless"}) == 1


def test_all_series_of_a_counter_exist_from_the_start() -> None:
    registry = CollectorRegistry()
    counter("attractor_tried_total", "Tries", registry, what=("a", "b"), result=("good", "bad"))
    lines = generate_latest(registry).decode().splitlines()
    assert len([line for line in lines if line.startswith("attractor_tried_total{")]) == 4


async def test_an_invented_http_method_creates_no_series() -> None:
    metrics = Metrics()

    async def app(_scope, _receive, send) -> None:
        await send({"type": "http.response.start", "status": 405, "headers": []})

    for method in ("GET", "BREW", "X" * 50):
        scope = {"type": "http", "method": method, "path": "/", "headers": []}
        await RequestTelemetry(app, metrics)(scope, None, lambda _: asyncio.sleep(0))
    exposed = {
        sample.labels["method"]
        for metric in metrics.registry.collect()
        if metric.name == "attractor_http_request_seconds"
        for sample in metric.samples
    }
    assert exposed == {"GET", "other"}


def test_the_first_failure_of_an_embedding_model_shows_as_an_increase() -> None:
    registry = CollectorRegistry()
    watch = EmbeddingMetrics(registry).of("query")
    watch.expect("small")
    labels = {"use": "query", "model": "small"}
    failed = ("attractor_embedding_seconds_count", labels | {"result": "failed"})
    assert registry.get_sample_value(*failed) == 0
    watch("small", 3, 0.1, succeeded=False)
    watch("small", 3, 0.1, succeeded=True)
    assert registry.get_sample_value(*failed) == 1
    assert registry.get_sample_value("attractor_embedded_texts_total", labels) == 3


def test_a_process_reports_its_schema_version() -> None:
    exposed = generate_latest(Metrics("service_kit").registry).decode()
    assert 'attractor_build_info{schema="0' in exposed
