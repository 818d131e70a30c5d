"""Gauges that are read when /metrics is asked for, so that they are true however long nothing has happened."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import product

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

log = logging.getLogger(__name__)
Reading = Callable[[], Awaitable[Iterable[Metric]]]
DEADLINE_SECONDS = 3.0


class Readings(Collector):
    """The readings of a process. One that fails leaves its gauges out and is counted, and the others are told."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._readings: dict[str, Reading] = {}
        self._found: list[Metric] = []
        self._failed = Counter(
            "attractor_readings_failed_total",
            "Failed readings of gauges; until a reading succeeds, its gauges are absent",
            ["reading"],
            registry=registry,
        )
        registry.register(self)

    def add(self, name: str, reading: Reading) -> None:
        """Adds what is read each time. No two readings may return gauges of one name."""
        self._readings[name] = reading
        self._failed.labels(name)

    async def refresh(self) -> None:
        """Reads all at once, each with a deadline."""
        found = await asyncio.gather(*(self._read(name, reading) for name, reading in self._readings.items()))
        self._found = [metric for metrics in found for metric in metrics]

    def collect(self) -> Iterator[Metric]:
        yield from self._found

    async def _read(self, name: str, reading: Reading) -> Iterable[Metric]:
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                return await reading()
        except Exception as error:  # noqa: BLE001  whatever it raises, the other gauges are told
            log.warning("gauges cannot be read", extra={"reading": name, "reason": repr(error)[:300]})
            self._failed.labels(name).inc()
            return []


def counter(name: str, help_text: str, registry: CollectorRegistry | None, **labels: Iterable[str]) -> Counter:
    """Returns a counter with all series that its labels can make, at 0: so that a first failure is an increase.

    For labels whose values are known; those that are not may be added with `labels` as they come.
    """
    made = Counter(name, help_text, list(labels), registry=registry)
    for values in product(*labels.values()):
        made.labels(*values)
    return made


def gauge(name: str, help_text: str, value: float) -> Metric:
    """Returns a gauge without labels."""
    return GaugeMetricFamily(name, help_text, value=value)
