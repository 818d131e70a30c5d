"""What metrics and traces add to a search: make bench ARGS="--only telemetry".

Two retrieval services on one index answer the same queries in turn, so that both see the same machine: one counts,
makes spans, sends them and is scraped as by Prometheus; in the other, counters and spans do nothing. BENCH_CHUNKS
(100000) and BENCH_FOLDER as for `search`.
"""

from __future__ import annotations

import os
import tempfile
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from benchmarks.figures import Row
from benchmarks.http_load import SearchClient, Timed
from benchmarks.loaded_index import LoadedIndex
from benchmarks.search_scenario import Scenario
from benchmarks.search_server import WITHOUT_TELEMETRY
from benchmarks.search_speed import served
from benchmarks.span_sink import span_sink

ROUNDS = 16
SCRAPE_SECONDS = 15.0
AIM = "1.03"


def telemetry_cost() -> list[Row]:
    chunks = int(os.environ.get("BENCH_CHUNKS", "100000"))
    with tempfile.TemporaryDirectory(prefix="attractor-telemetry-") as temporary:
        folder = Path(os.environ.get("BENCH_FOLDER") or temporary) / f"chunks-{chunks}"
        with (
            LoadedIndex.opened(folder, chunks, int(os.environ.get("BENCH_CONSUMERS", "1"))) as index,
            span_sink() as collector,
        ):
            scenario = Scenario.of(index.corpus)
            with (
                served(index, scenario, cache=False, **{WITHOUT_TELEMETRY: "1"}) as plain,
                served(index, scenario, cache=False, OTEL_EXPORTER_OTLP_ENDPOINT=collector) as observed,
                _scraped(observed.port),
            ):
                return _rows(*_in_turn(plain, observed, scenario))


def _in_turn(plain: SearchClient, observed: SearchClient, scenario: Scenario) -> tuple[list[Timed], list[Timed]]:
    """Returns both services' rounds; who begins alternates."""
    requests = scenario.requests("hybrid")
    for client in (plain, observed):
        client.ask_all(requests)
    off: list[Timed] = []
    on: list[Timed] = []
    pairs = ((plain, off), (observed, on))
    for number in range(ROUNDS):
        for client, rounds in pairs if number % 2 else reversed(pairs):
            rounds.append(client.ask_all(requests))
    return off, on


def _rows(off: list[Timed], on: list[Timed]) -> list[Row]:
    pooled = [Timed([second for one in rounds for second in one.seconds]) for rounds in (off, on)]
    ratios = {share: pooled[1].milliseconds(share) / pooled[0].milliseconds(share) for share in (0.5, 0.95)}
    of_rounds = [two.milliseconds(0.95) / one.milliseconds(0.95) for one, two in zip(off, on, strict=True)]
    low, high = np.quantile(of_rounds, (0.25, 0.75))
    return [
        ("search without metrics and traces, p50 / p95 (ms)", str(pooled[0]), ""),
        ("search with metrics and traces, p50 / p95 (ms)", str(pooled[1]), ""),
        ("  as a ratio, p50 / p95", f"{ratios[0.5]:.3f} / {ratios[0.95]:.3f}", AIM),
        (f"  ratio of p95 by round, median (quartiles), {len(on)} rounds",
         f"{np.median(of_rounds):.3f} ({low:.3f} to {high:.3f})", AIM),
    ]  # fmt: skip


@contextmanager
def _scraped(port: int) -> Iterator[None]:
    """Reads the service's metrics at Prometheus' interval."""
    over = threading.Event()

    def scrape() -> None:
        while not over.wait(SCRAPE_SECONDS):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=SCRAPE_SECONDS) as answer:
                answer.read()

    thread = threading.Thread(target=scrape)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
