"""Measures the figures of the README, and prints a table: make bench.

ARGS="--only upload spaces" picks some; ARGS=--cold adds the first start from an empty package cache.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx2
from benchmarks import (
    alert_delay,
    artifact_export,
    artifact_versions,
    check_latency,
    conversation_figures,
    conversion_agreement,
    conversion_speed,
    door_figures,
    figures,
    graph_extraction,
    graph_quality,
    graph_speed,
    index_figures,
    ingestion_figures,
    memory_features,
    memory_scale,
    migration_locks,
    model_calls,
    search_speed,
    session_search,
    sizing,
    small_files,
    store_quality,
    team,
    telemetry_cost,
    token_cost,
    web_figures,
)
from benchmarks.figures import Row
from stack import EmbeddedStack

Figure = Callable[[httpx2.AsyncClient], Coroutine[Any, Any, list[Row]]]


def on_a_stack(folder: Path, figure: Figure) -> list[Row]:
    with EmbeddedStack.started(figures.fresh(folder), RATE_LIMIT_PER_MINUTE="0") as stack:

        async def measure() -> list[Row]:
            headers = {"Authorization": f"Bearer {stack.api_key}"}
            async with httpx2.AsyncClient(base_url=stack.url, headers=headers, timeout=120) as http:
                return await figure(http)

        return figures.run(measure())


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="attractor-bench-") as temporary:
        folder = Path(temporary)
        folder.chmod(0o711)
        all_figures: dict[str, Callable[[], list[Row]]] = {
            "cold": lambda: figures.first_answer(figures.fresh(folder / "cold")),
            "start": lambda: figures.second_start(figures.fresh(folder / "start")),
            "upload": lambda: on_a_stack(folder / "upload", figures.upload_to_searchable),
            "latency": lambda: figures.run(figures.added_latency(figures.fresh(folder / "latency"))),
            "doors": lambda: figures.run(door_figures.doors(figures.fresh(folder / "doors"))),
            "model-calls": lambda: figures.run(model_calls.model_calls()),
            "proposals": lambda: on_a_stack(folder / "proposals", figures.search_proposals),
            "search": search_speed.search_speed,
            "stores": lambda: figures.run(store_quality.stores_quality(folder / "stores")),
            "graph-quality": graph_quality.graph_quality,
            "storage": lambda: figures.run(index_figures.storage()),
            "conversations": lambda: figures.run(conversation_figures.conversations()),
            "memory": memory_scale.memory_scale,
            "memory-features": lambda: figures.run(memory_features.memory_features()),
            "check": lambda: figures.run(check_latency.check_latency()),
            "sessions": lambda: figures.run(session_search.session_search()),
            "artifacts": lambda: figures.run(artifact_versions.artifact_versions()),
            "export": lambda: figures.run(artifact_export.artifact_export()),
            "spaces": lambda: figures.run(index_figures.searches_during_a_build()),
            "conversion": lambda: conversion_speed.conversion_speed() + conversion_speed.conversion_memory(),
            "graph": lambda: figures.run(graph_speed.graph_speed()),
            "graph-extraction": graph_extraction.graph_extraction,
            "agreement": conversion_agreement.conversion_agreement,
            "sync": lambda: figures.run(ingestion_figures.synchronisation(figures.fresh(folder / "sync"))),
            "small-files": lambda: figures.run(small_files.small_files(figures.fresh(folder / "small-files"))),
            "telemetry": telemetry_cost.telemetry_cost,
            "tokens": token_cost.token_cost,
            "sizing": lambda: figures.run(sizing.sizing(folder / "sizing")),
            "team": lambda: figures.run(team.team(folder / "team")),
            "migrations": lambda: migration_locks.migration_locks(folder / "migrations"),
            "alerts": lambda: alert_delay.alert_delay(folder / "alerts"),
            "web": lambda: web_figures.web_figures(folder / "web"),
            "workers": lambda: figures.run(ingestion_figures.two_workers(figures.fresh(folder / "workers"))),
        }
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--only", nargs="+", choices=all_figures, metavar="FIGURE", help=", ".join(all_figures))
        parser.add_argument("--cold", action="store_true", help="also start from an empty package cache (downloads)")
        arguments = parser.parse_args()
        names = arguments.only or [name for name in all_figures if name != "cold" or arguments.cold]
        print(f"{'figure':<72} {'measured':<30} aim")
        for name in names:
            for row in all_figures[name]():
                print(f"{row[0]:<72} {row[1]:<30} {row[2]}", flush=True)


if __name__ == "__main__":
    main()
