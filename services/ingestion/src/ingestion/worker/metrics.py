"""A worker's Prometheus metrics, in a registry of their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

import psutil
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from contracts.formats import SUPPORTED, extension
from ingestion.worker.failures import EXPECTED
from service_kit.readings import counter
from service_kit.telemetry import describe_process

SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
FORMATS = frozenset(SUPPORTED)


class WorkerMetrics:
    """Counters and histograms of the stages."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        describe_process(registry, "ingestion")
        self.stages = Histogram(
            "attractor_ingestion_stage_seconds",
            "Duration of stages that succeeded, by stage and format",
            ["stage", "format"],
            buckets=SECONDS,
            registry=registry,
        )
        self.failures = Counter(
            "attractor_ingestion_failures_total",
            "Failed attempts by stage and error class, including those that are retried",
            ["stage", "error_class"],
            registry=registry,
        )
        for stage, classes in EXPECTED.items():
            for error_class in sorted(classes):
                self.failures.labels(stage, error_class)  # so that the first one is an increase
        self.pages = Counter("attractor_ingestion_pages_total", "Pages converted", ["format"], registry=registry)
        self.bytes = Counter(
            "attractor_ingestion_bytes_total", "Bytes of originals converted", ["format"], registry=registry
        )
        self.chunks = counter(
            "attractor_ingestion_chunks_total",
            "Chunks that got a vector: embedded, or reused from an earlier version",
            registry,
            result=("embedded", "reused"),
        )


class WorkerReadings(Collector):
    """Gauges that are read at each scrape: memory by kind of process, and slots in use by lane."""

    def __init__(self, busy: Callable[[], Iterable[tuple[str, int]]]) -> None:
        self.busy = busy

    def collect(self) -> Iterator[Metric]:
        memory = GaugeMetricFamily(
            "attractor_ingestion_resident_bytes",
            "Resident memory of the worker, the fork server and all conversions",
            labels=["process"],
        )
        for kind, resident in resident_bytes().items():
            memory.add_metric([kind], resident)
        yield memory
        slots = GaugeMetricFamily("attractor_ingestion_slots_busy", "Slots in use by lane", labels=["lane"])
        for lane, count in self.busy():
            slots.add_metric([lane], count)
        yield slots


def resident_bytes() -> dict[str, int]:
    """Measures this process (`worker`), its `fork_server`, and the sum of the latter's descendants (`conversion`)."""
    found = {"worker": 0, "fork_server": 0, "conversion": 0}
    worker = psutil.Process(os.getpid())
    found["worker"] = worker.memory_info().rss
    for child in worker.children():
        with suppress(psutil.NoSuchProcess):
            if any("forkserver" in word for word in child.cmdline()):
                found["fork_server"] += child.memory_info().rss
                for conversion in child.children(recursive=True):
                    with suppress(psutil.NoSuchProcess):
                        found["conversion"] += conversion.memory_info().rss
    return found


def format_of(name: str) -> str:
    """Returns the label of a file: its extension, or `other` for unknown ones, which bounds the number of labels."""
    suffix = extension(name)
    return suffix if suffix in FORMATS else "other"
