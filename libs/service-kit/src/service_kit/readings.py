"""Gauges that are read when /metrics is scraped, so that they are current however long nothing has happened."""

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
    """The readings of a process. One that fails is counted and its gauges are left out; the others are served."""

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
        """Adds a reading. No two readings may return gauges with the same name."""
        self._readings[name] = reading
        self._failed.labels(name)

    async def refresh(self) -> None:
        """Reads all concurrently, each with a deadline."""
        found = await asyncio.gather(*(self._read(name, reading) for name, reading in self._readings.items()))
        self._found = [metric for metrics in found for metric in metrics]

    def collect(self) -> Iterator[Metric]:
        yield from self._found

    async def _read(self, name: str, reading: Reading) -> Iterable[Metric]:
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                return await reading()
        except Exception as error:  # noqa: BLE001  whatever it raises, the other gauges are reported
            log.warning("gauges cannot be read", extra={"reading": name, "reason": repr(error)[:300]})
            self._failed.labels(name).inc()
            return []


def counter(name: str, help_text: str, registry: CollectorRegistry | None, **labels: Iterable[str]) -> Counter:
    """Returns a counter whose possible series all start at 0, so that a first failure shows as an increase.

    All label values must be known; series with others may be added later with `labels`.
    """
    made = Counter(name, help_text, list(labels), registry=registry)
    for values in product(*labels.values()):
        made.labels(*values)
    return made


def gauge(name: str, help_text: str, value: float) -> Metric:
    """Returns a gauge without labels."""
    return GaugeMetricFamily(name, help_text, value=value)
