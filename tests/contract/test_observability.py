"""Alerts and dashboards use only metrics that the code exports, and each alert has an entry in the runbooks."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import jsonschema
import pytest
import yaml
from api_calls import REPOSITORY

PROMETHEUS, GRAFANA = REPOSITORY / "infra" / "prometheus", REPOSITORY / "infra" / "grafana"
RUNBOOKS = (REPOSITORY / "docs" / "runbooks.md").read_text(encoding="utf-8")
RULES: list[dict[str, Any]] = yaml.safe_load((PROMETHEUS / "rules.yml").read_text("utf-8"))["groups"][0]["rules"]
# Kinds of metrics by constructor, with the suffixes of the series in Prometheus.
SERIES = {
    "Counter": ("",),
    "counter": ("",),
    "Gauge": ("",),
    "gauge": ("",),
    "GaugeMetricFamily": ("",),
    "Histogram": ("_bucket", "_count", "_sum"),
    "Info": ("_info",),
}
OF_OTHERS = {"up", "process_resident_memory_bytes", "process_cpu_seconds_total"}  # of Prometheus and its client library
# Of the exporters of PostgreSQL and Redis; tests/observability compares these with what they tell.
OF_EXPORTERS = {
    "pg_up",
    "pg_database_size_bytes",
    "pg_settings_max_connections",
    "pg_stat_activity_count",
    "pg_stat_activity_max_tx_duration",
    *(f"pg_stat_database_{name}" for name in ("blks_read", "deadlocks", "xact_commit", "xact_rollback")),
    *(f"redis_{name}" for name in ("up", "aof_last_write_status", "commands_processed_total", "connected_clients")),
}
OF_THE_SCRAPE = {"job", "instance", "service", "le"}
NAME = re.compile(r"\b(?:(?:attractor|pg|redis)_[a-z0-9_]+|process_[a-z_]+|up)\b(?=[{\[) ]|$)")
LABELLED = re.compile(r"\b(attractor_[a-z0-9_]+)\{([^}]*)\}")


def calls() -> Iterator[tuple[str, ast.Call]]:
    """Yields (kind, call) for each metric created in the code of services and libraries."""
    for folder in ("libs", "services"):
        for file in (REPOSITORY / folder).glob("*/src/**/*.py"):
            text = file.read_text(encoding="utf-8")
            if "attractor_" not in text:
                continue
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SERIES:
                    yield node.func.id, node


@cache
def metrics() -> Mapping[str, frozenset[str] | None]:
    """Returns the labels of each series; None if the code does not list them in the call."""
    found: dict[str, frozenset[str] | None] = {}
    for kind, call in calls():
        first = call.args[0] if call.args else None
        if isinstance(first, ast.Constant) and str(first.value).startswith("attractor_"):
            for end in SERIES[kind]:
                found[f"{first.value}{end}"] = labels_of(kind, call)
    return found


def labels_of(kind: str, call: ast.Call) -> frozenset[str] | None:
    named = {one.arg: one.value for one in call.keywords}
    if kind == "counter":
        return frozenset(name for name in named if name)
    listed = named.get("labels") or (call.args[2] if len(call.args) > 2 else None)
    if listed is None and kind != "Info":
        return frozenset()
    return frozenset(ast.literal_eval(listed)) if isinstance(listed, ast.List) else None


def queries() -> Iterator[tuple[str, str]]:
    """Yields (place, query) for each rule and each panel."""
    for rule in RULES:
        yield rule["alert"], rule["expr"]
    for panels in dashboards().DASHBOARDS.values():
        for panel in panels:
            for query in panel.queries.values():
                yield panel.title, query


@cache
def dashboards() -> Any:
    spec = importlib.util.spec_from_file_location("dashboards", GRAFANA / "dashboards.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(__import__("sys").modules, "dashboards", module)  # its dataclasses look it up there
        spec.loader.exec_module(module)
    return module


def test_every_query_uses_existing_metrics_and_labels() -> None:
    known = metrics()
    assert len(known) > 60, "the code's metrics were not found"
    for where, query in queries():
        names = set(NAME.findall(query))
        assert names, f"{where}: no metric in {query}"
        unknown = names - known.keys() - OF_OTHERS - OF_EXPORTERS
        assert not unknown, f"{where}: {unknown}"
        for name, matchers in LABELLED.findall(query):
            labels = known[name]
            asked = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers)) - OF_THE_SCRAPE
            assert labels is None or asked <= labels, f"{where}: {name} has no {asked - labels}"


def test_the_committed_dashboards_equal_those_generated_from_code() -> None:
    rendered = dashboards().rendered()
    assert set((GRAFANA / "dashboards").iterdir()) == set(rendered)
    for file, text in rendered.items():
        assert file.read_text(encoding="utf-8") == text, "run: python3 infra/grafana/dashboards.py"


def test_dashboards_are_what_grafana_reads_and_a_misspelt_field_is_refused() -> None:
    schema = json.loads((GRAFANA / "dashboard.schema.json").read_text(encoding="utf-8"))
    for file in (GRAFANA / "dashboards").iterdir():
        made = json.loads(file.read_text(encoding="utf-8"))
        jsonschema.validate(made, schema)
        made["panels"][0]["tittle"] = made["panels"][0].pop("title")
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(made, schema)


def test_every_alert_has_a_duration_a_severity_and_a_runbook_entry() -> None:
    entries = re.split(r"^## ", RUNBOOKS, flags=re.MULTILINE)[1:]
    by_name = {entry.partition("\n")[0]: entry for entry in entries}
    assert [name for name in by_name if name.startswith("Attractor")] == [rule["alert"] for rule in RULES]
    for rule in RULES:
        assert rule["labels"]["severity"] in {"critical", "warning", "info"}
        assert re.fullmatch(r"\d+[sm]", rule["for"]), f"{rule['alert']} does not say for how long"
        assert rule["annotations"]["runbook_url"] == f"docs/runbooks.md#{rule['alert'].lower()}"
        entry = by_name[rule["alert"]]
        for part in ("**Means:**", "**Look:**", "**Do:**", "**Over:**"):
            assert part in entry, f"{rule['alert']} lacks {part}"


def test_somebody_is_told_within_two_minutes_that_a_process_or_a_store_is_gone() -> None:
    """Adds up the longest waits: for a scrape and its timeout, an evaluation, the rule and Alertmanager."""
    every = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text("utf-8"))["global"]
    route = yaml.safe_load((REPOSITORY / "infra/alertmanager/alertmanager.yml").read_text("utf-8"))["route"]
    shared = (every["scrape_interval"], "10s", every["evaluation_interval"], route["group_wait"])
    by_name = {rule["alert"]: rule for rule in RULES}
    for alert in ("AttractorProcessDown", "AttractorPostgresDown", "AttractorRedisDown", "AttractorNoWorker"):
        assert sum(map(seconds, (*shared, by_name[alert]["for"]))) <= 120, alert


def seconds(duration: str) -> int:
    return int(duration[:-1]) * {"s": 1, "m": 60}[duration[-1]]


def test_every_alert_fires_exactly_when_it_should() -> None:
    tried = {one["name"] for one in yaml.safe_load((PROMETHEUS / "tests.yml").read_text("utf-8"))["tests"]}
    assert tried == {f"{rule['alert']} {what}" for rule in RULES for what in ("fires", "stays quiet")}
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed: apt-get install prometheus")
    done = subprocess.run(["promtool", "test", "rules", "tests.yml"], cwd=PROMETHEUS, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_prometheus_scrapes_every_process() -> None:
    configured = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text("utf-8"))["scrape_configs"]
    by_job = {each["job_name"]: each for each in configured}
    found = by_job.pop("attractor")["dns_sd_configs"]
    asked = {name: one["port"] for one in found for name in one["names"]}
    services = yaml.safe_load((REPOSITORY / "compose.yaml").read_text("utf-8"))["services"]
    observed = {
        name: int(one["environment"].get("PRIVATE_PORT") or one["environment"]["PORT"])
        for name, one in services.items()
        if {"PRIVATE_PORT", "PORT"} & set(one.get("environment", {}))
    }
    assert asked == observed
    exporters = {job: each["static_configs"][0]["targets"] for job, each in by_job.items()}
    assert exporters == {"postgres": ["postgres-exporter:9187"], "redis": ["redis-exporter:9121"]}
    for [target] in exporters.values():
        assert set(services["prometheus"]["networks"]) & set(services[target.partition(":")[0]]["networks"])


def test_alerts_reach_the_alertmanager_of_compose() -> None:
    """Regression: alerts were shown in Prometheus and told to nobody."""
    scrapes = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text("utf-8"))
    [addressed] = scrapes["alerting"]["alertmanagers"][0]["static_configs"][0]["targets"]
    services = yaml.safe_load((REPOSITORY / "compose.yaml").read_text("utf-8"))["services"]
    assert addressed == "alertmanager:9093"
    assert set(services["prometheus"]["networks"]) & set(services["alertmanager"]["networks"])
    told = yaml.safe_load((REPOSITORY / "infra/alertmanager/alertmanager.yml").read_text("utf-8"))
    assert told["route"]["receiver"] in {one["name"] for one in told["receivers"]}
