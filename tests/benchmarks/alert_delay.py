"""How long it takes from a fault until Alertmanager's receiver hears of it, beside a Compose stack that runs.

Scrapes, rules and groups have their true intervals, so a fault takes some minutes; BENCH_FAULTS (3) of each kind. Needs
ATTRACTOR_COMPOSE=1, and `infra/prometheus` and `infra/alertmanager` as they are.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from benchmarks.figures import Row, fresh
from observability.watching import FIRING, Watch, eventually, shell, watching

FAULTS = int(os.environ.get("BENCH_FAULTS", "3"))
AIM = "120 s"
WORKER, REDIS = "docker compose kill ingestion-worker", "docker compose stop --timeout 5 redis"
TOLD_BY: dict[str, tuple[tuple[str, dict[str, str]], ...]] = {
    WORKER: (("AttractorProcessDown", {"service": "ingestion-worker"}), ("AttractorNoWorker", {})),
    REDIS: (("AttractorRedisDown", {}),),
}
WELL = ('up{service="ingestion-worker"} == 1', "attractor_ingestion_workers > 0", "redis_up == 1")
"""What has to be known of each before it fails: nothing tells of a process that was never seen."""


def alert_delay(folder: Path) -> list[Row]:
    """Returns the seconds of each fault, by the alert that tells of it."""
    if not os.environ.get("ATTRACTOR_COMPOSE"):
        return [("fault to alert", "needs the Compose stack: ATTRACTOR_COMPOSE=1", AIM)]
    seconds: dict[str, list[float]] = {}
    for number in range(FAULTS):
        # New observers each time: Alertmanager tells nothing more of a group for five minutes.
        with watching(fresh(folder / str(number)), hurried=False) as watch:
            for fault in TOLD_BY:
                eventually(lambda: all(map(watch.value, WELL)))
                _raise(watch, fault, seconds)
    return [
        (f"fault to alert: {told_by}", ", ".join(f"{one:.0f}" for one in sorted(took)) + " s", AIM)
        for told_by, took in seconds.items()
    ]


def _raise(watch: Watch, fault: str, seconds: dict[str, list[float]]) -> None:
    began = time.monotonic()
    shell(fault)
    try:
        for alert, labels in TOLD_BY[fault]:
            watch.receiver.wait(alert, FIRING, **labels)
            seconds.setdefault(f"{alert} after `{fault}`", []).append(time.monotonic() - began)
    finally:
        shell(f"docker compose up --detach --wait {fault.split()[-1]}")
