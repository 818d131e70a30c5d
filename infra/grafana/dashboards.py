"""Generates the dashboards, in which each panel is one line here: python3 infra/grafana/dashboards.py"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("dashboards")
DATASOURCE = {"type": "prometheus", "uid": "prometheus"}
DATABASE = '{datname="attractor"}'
WIDTH, HEIGHT = 12, 8


@dataclass(frozen=True)
class Panel:
    """A graph over time. `queries`: PromQL by legend."""

    title: str
    unit: str
    queries: Mapping[str, str]


def quantiles(metric: str, by: str = "", where: str = "") -> dict[str, str]:
    """Returns queries for the median and the 95th percentile."""
    labels, legend = (f"le, {by}", f" {{{{{by}}}}}") if by else ("le", "")
    return {
        f"p{number}{legend}": f"histogram_quantile(0.{number}, sum by ({labels}) (rate({metric}_bucket{where}[5m])))"
        for number in (50, 95)
    }


OVERVIEW = (
    Panel("Processes down", "none", {"{{service}}": 'sum by (service) (up{job="attractor"} == bool 0)'}),
    Panel(
        "Failed requests",
        "reqps",
        {
            "{{service}}": "sum by (service) "
            '(rate(attractor_http_request_seconds_count{status=~"5..",route!="/readyz"}[5m]))'
            " or 0 * sum by (service) (rate(attractor_http_request_seconds_count[5m]))"
        },
    ),
    Panel(
        "Requests to the gateway",
        "reqps",
        {"all": 'sum(rate(attractor_http_request_seconds_count{service="gateway"}[5m]))'},
    ),
    Panel("Time to first words", "s", quantiles("attractor_run_first_words_seconds")),
    Panel(
        "Search duration",
        "s",
        quantiles("attractor_http_request_seconds", where='{service="retrieval",route="/v1/search"}'),
    ),
    Panel("Dead letters", "none", {"{{stream}}": "max by (stream) (attractor_dead_letters)"}),
    Panel("Oldest queued document", "s", {"{{lane}}": "max by (lane) (attractor_ingestion_queue_oldest_seconds)"}),
    Panel("Versions", "none", {"{{version}}": "count by (version) (attractor_build_info)"}),
)
INGESTION = (
    Panel(
        "Queued documents",
        "none",
        {"{{lane}} {{stage}}": "max by (lane, stage) (attractor_ingestion_queue_depth)"},
    ),
    Panel("Oldest queued document", "s", {"{{lane}}": "max by (lane) (attractor_ingestion_queue_oldest_seconds)"}),
    Panel(
        "Documents by stage",
        "none",
        {"{{stage}} {{state}}": 'max by (stage, state) (attractor_document_stages{state!="succeeded"})'},
    ),
    Panel(
        "Searchable documents", "none", {"documents": 'max(attractor_document_stages{stage="index",state="succeeded"})'}
    ),
    Panel("Stage duration", "s", quantiles("attractor_ingestion_stage_seconds", "stage")),
    Panel(
        "Stage failures",
        "none",
        {"{{stage}} {{error_class}}": "sum by (stage, error_class) (increase(attractor_ingestion_failures_total[5m]))"},
    ),
    Panel("Pages converted", "cps", {"{{format}}": "sum by (format) (rate(attractor_ingestion_pages_total[5m]))"}),
    Panel(
        "Workers and busy slots",
        "none",
        {
            "workers": "max(attractor_ingestion_workers)",
            "wanted": "max(attractor_ingestion_workers_wanted)",
            "slots {{lane}}": "sum by (lane) (attractor_ingestion_slots_busy)",
        },
    ),
    Panel("Worker memory", "bytes", {"{{process}}": "sum by (process) (attractor_ingestion_resident_bytes)"}),
    Panel(
        "Sources by last successful synchronisation",
        "none",
        {"{{last_success}}": "max by (last_success) (attractor_sources)", "overdue": "max(attractor_sources_overdue)"},
    ),
)
SEARCH = (
    Panel("Leg duration", "s", quantiles("attractor_search_leg_seconds", "leg")),
    Panel(
        "Legs left out",
        "reqps",
        {"{{leg}}": 'sum by (leg) (rate(attractor_search_leg_seconds_count{result="left_out"}[5m]))'},
    ),
    Panel("Search cache", "reqps", {"{{result}}": "sum by (result) (rate(attractor_search_cache_total[5m]))"}),
    Panel("Embedding model calls", "s", quantiles("attractor_embedding_seconds", "use")),
    Panel(
        "Texts embedded",
        "cps",
        {"{{use}} {{model}}": "sum by (use, model) (rate(attractor_embedded_texts_total[5m]))"},
    ),
    Panel("Postings not folded yet", "none", {"rows": "max(attractor_recent_postings_rows)"}),
)
RUNS = (
    Panel("Runs", "none", {"queued": "max(attractor_runs_waiting)", "active": "sum(attractor_runs_active)"}),
    Panel("Oldest queued run", "s", {"age": "max(attractor_runs_waiting_oldest_seconds)"}),
    Panel("Run attempts", "cps", {"{{result}}": "sum by (result) (rate(attractor_run_attempts_total[5m]))"}),
    Panel("Time to first words", "s", quantiles("attractor_run_first_words_seconds")),
    Panel("Time to first token of a call", "s", quantiles("attractor_model_first_token_seconds", "role")),
    Panel(
        "Chat model calls",
        "cps",
        {"{{model}} {{ended}}": "sum by (model, ended) (rate(attractor_model_calls_total[5m]))"},
    ),
    Panel("Tokens", "cps", {"{{model}} {{kind}}": "sum by (model, kind) (rate(attractor_model_tokens_total[5m]))"}),
    Panel("Cost per hour", "none", {"{{model}}": "sum by (model) (increase(attractor_model_cost_total[1h]))"}),
    Panel("Checked sentences", "cps", {"{{status}}": "sum by (status) (rate(attractor_answer_sentences_total[5m]))"}),
)
STORES = (
    Panel(
        "Connections to PostgreSQL",
        "none",
        {
            "{{service}} {{state}}": "sum by (service, state) (attractor_database_connections)",
            "{{service}} waiting": "sum by (service) (attractor_database_waiting)",
        },
    ),
    Panel(
        "Sessions of PostgreSQL",
        "none",
        {
            "{{state}}": "sum by (state) (pg_stat_activity_count)",
            "limit": "max(pg_settings_max_connections)",
        },
    ),
    Panel(
        "Transactions of PostgreSQL",
        "cps",
        {
            "committed": f"sum(rate(pg_stat_database_xact_commit{DATABASE}[5m]))",
            "rolled back": f"sum(rate(pg_stat_database_xact_rollback{DATABASE}[5m]))",
            "deadlocks": f"sum(rate(pg_stat_database_deadlocks{DATABASE}[5m]))",
        },
    ),
    Panel("Oldest transaction", "s", {"{{state}}": "max by (state) (pg_stat_activity_max_tx_duration)"}),
    Panel("Size of the database", "bytes", {"size": f"max(pg_database_size_bytes{DATABASE})"}),
    Panel(
        "Blocks read from disk",
        "cps",
        {"blocks": f"sum(rate(pg_stat_database_blks_read{DATABASE}[5m]))"},
    ),
    Panel("Redis", "bytes", {"used": "max(attractor_redis_bytes)", "limit": "max(attractor_redis_most_bytes)"}),
    Panel("Commands to Redis", "cps", {"all": "sum(rate(redis_commands_processed_total[5m]))"}),
    Panel("Connections to Redis", "none", {"clients": "max(redis_connected_clients)"}),
    Panel("Outbox", "none", {"{{service}}": "max by (service) (attractor_outbox_rows)"}),
    Panel("Undelivered events", "none", {"{{group}} {{stream}}": "max by (group, stream) (attractor_stream_lag)"}),
    Panel(
        "Oldest unhandled event",
        "s",
        {"{{group}} {{stream}}": "max by (group, stream) (attractor_stream_pending_oldest_seconds)"},
    ),
    Panel(
        "Events by result", "cps", {"{{group}} {{result}}": "sum by (group, result) (rate(attractor_events_total[5m]))"}
    ),
    Panel("Checkpoints", "bytes", {"all runs": "max(attractor_checkpoint_bytes)"}),
    Panel(
        "Backup age",
        "s",
        {"last backup": "max(attractor_backup_age_seconds)"},
    ),
    Panel("Database log not backed up", "bytes", {"bytes": "max(attractor_backup_log_behind_bytes)"}),
    Panel("Changes being projected to Neo4j", "none", {"rows": "max(attractor_graph_projection_rows)"}),
)
SERVICE = (
    Panel(
        "Requests",
        "reqps",
        {
            "{{route}} {{status}}": "sum by (route, status) "
            '(rate(attractor_http_request_seconds_count{service="$service"}[5m]))'
        },
    ),
    Panel("Duration", "s", quantiles("attractor_http_request_seconds", "route", '{service="$service"}')),
    Panel("Memory", "bytes", {"{{instance}} {{process}}": 'process_resident_memory_bytes{service="$service"}'}),
    Panel(
        "CPU",
        "percentunit",
        {"{{instance}} {{process}}": 'rate(process_cpu_seconds_total{service="$service"}[5m])'},
    ),
    Panel(
        "Background task failures",
        "none",
        {"{{task}}": 'sum by (task) (increase(attractor_background_restarts_total{service="$service"}[5m]))'},
    ),
    Panel(
        "Connections to PostgreSQL",
        "none",
        {"{{instance}} {{process}} {{state}}": 'attractor_database_connections{service="$service"}'},
    ),
)
DASHBOARDS = {
    "overview": OVERVIEW,
    "ingestion": INGESTION,
    "search": SEARCH,
    "runs": RUNS,
    "stores": STORES,
    "service": SERVICE,
}


def dashboard(name: str, panels: Sequence[Panel]) -> dict[str, Any]:
    """Returns a Grafana dashboard with two panels per row."""
    service = {
        "name": "service",
        "type": "query",
        "datasource": DATASOURCE,
        "query": {"query": 'label_values(up{job="attractor"}, service)', "refId": "service"},
        "refresh": 2,
    }
    return {
        "uid": f"attractor-{name}",
        "title": f"Attractor: {name}",
        "tags": ["attractor"],
        "schemaVersion": 39,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": [service] if name == "service" else []},
        "panels": [_panel(number, one) for number, one in enumerate(panels)],
    }


def _panel(number: int, panel: Panel) -> dict[str, Any]:
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": panel.title,
        "datasource": DATASOURCE,
        "gridPos": {"x": number % 2 * WIDTH, "y": number // 2 * HEIGHT, "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + place), "datasource": DATASOURCE, "expr": query, "legendFormat": legend}
            for place, (legend, query) in enumerate(panel.queries.items())
        ],
    }


def rendered() -> dict[Path, str]:
    """Returns the text of each file."""
    return {
        FOLDER / f"{name}.json": json.dumps(dashboard(name, panels), indent=1) + "\n"
        for name, panels in DASHBOARDS.items()
    }


if __name__ == "__main__":
    for file, text in rendered().items():
        file.write_text(text, encoding="utf-8")
