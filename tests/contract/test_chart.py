"""The Kubernetes chart gives each container what compose.yaml gives it: compared by its table, without helm."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import pytest
import yaml
from api_calls import REPOSITORY
from contract import chart
from contract.chart import CHART, COMPOSE, OURS, SERVICES, STORES, VALUES

SCHEMA: dict[str, Any] = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
EXAMPLES = sorted((CHART / "examples").glob("*.yaml"))
OF_THE_STORES = {
    "database_url": "postgres",
    "redis_url": "redis",
    "s3_secret_key": "seaweedfs",
    "neo4j_password": "neo4j",
}
NOT_IN_THE_CHART = {"backup", "restore"}
PRE_STOP_SECONDS, UVICORN_SECONDS = 5, 10


def on(network: str) -> set[str]:
    return {name for name in OURS if network in COMPOSE[name].get("networks", [])}


@pytest.mark.parametrize("name", OURS)
def test_a_pod_runs_what_its_container_in_compose_runs(name: str) -> None:
    assert OURS[name]["image"] == chart.compose_image(name)
    assert OURS[name]["command"] == COMPOSE[name]["command"]
    assert OURS[name]["memory"]["limit"] == chart.quantity(COMPOSE[name]["mem_limit"])
    assert OURS[name]["cpu"]["limit"] == chart.cores(COMPOSE[name]["cpu_quota"])


@pytest.mark.parametrize("name", OURS)
def test_a_pod_has_the_environment_of_its_container_in_compose(name: str) -> None:
    given = chart.environment(OURS[name])
    for variable in chart.ADDED.get(name, set()):
        del given[variable]
    expected = chart.compose_environment(name)
    expected.pop("SERVER_PROCESSES", None)  # a cluster has replicas
    assert given == expected


@pytest.mark.parametrize("name", OURS)
def test_a_pod_has_the_secrets_of_its_container_in_compose_and_no_others(name: str) -> None:
    assert OURS[name].get("secrets", {}) == chart.compose_secrets(name)


@pytest.mark.parametrize("name", OURS)
def test_a_pod_has_the_folders_of_its_container_in_compose(name: str) -> None:
    assert chart.folders(OURS[name]) == chart.compose_folders(name)
    assert chart.temporary(OURS[name]) == chart.compose_temporary(name)


def test_every_service_of_compose_is_in_the_chart_and_migrated() -> None:
    stores = {"postgres", "redis", "neo4j", "seaweedfs", "seaweedfs-keys"}
    watched = {name for name, one in COMPOSE.items() if "observability" in one.get("profiles", [])}
    migrations = {name for name in COMPOSE if name.endswith("-migrate")} - watched
    assert set(COMPOSE) - stores - watched - migrations == set(OURS) | NOT_IN_THE_CHART
    migrated = {f"{name}-migrate": one["migrate"] for name, one in SERVICES.items() if "migrate" in one}
    assert migrated == {name: COMPOSE[name]["command"] for name in migrations - {"backup-migrate"}}
    for name in migrated:
        service = name.removesuffix("-migrate")
        expected = {"database_url": SERVICES[service]["secrets"]["database_url"]}
        assert chart.compose_secrets(name) == {**expected, "admin_database_url": "admin_database_url"}
        assert VALUES["migrations"]["memory"]["limit"] == chart.quantity(COMPOSE[name]["mem_limit"])
        assert VALUES["migrations"]["cpu"]["limit"] == chart.cores(COMPOSE[name]["cpu_quota"])


@pytest.mark.parametrize("name", STORES)
def test_the_stores_of_a_trial_are_those_of_compose(name: str) -> None:
    store, container = STORES[name], COMPOSE[name]
    assert store["image"] == chart.default(container["image"])
    assert store.get("args", []) == container.get("command", [])
    assert store.get("environment", {}) == chart.compose_environment(name)
    assert store["secrets"] == chart.compose_secrets(name)
    assert store["memory"]["limit"] == chart.quantity(container["mem_limit"])
    assert store["cpu"]["limit"] == chart.cores(container["cpu_quota"])
    assert store.get("workingDir") == container.get("working_dir")
    assert store.get("writesItsImage", False) is not container["read_only"]
    shared = {"/dev/shm": chart.quantity(container["shm_size"])} if "shm_size" in container else {}
    assert chart.temporary(store) == chart.compose_temporary(name) | shared
    places = {**chart.folders(store), store["data"]["path"]: False}
    places |= {store["files"]["path"]: True} if "files" in store else {}
    assert places == chart.compose_folders(name)


def test_a_pod_may_call_exactly_the_services_whose_addresses_it_has() -> None:
    for name, one in SERVICES.items():
        addresses = [value for variable, value in one["environment"].items() if variable.endswith("_URL")]
        hosts = {urlsplit(address).hostname: urlsplit(address).port for address in addresses}
        called = {host: port for host, port in hosts.items() if host != name}
        assert called == {other: SERVICES[other]["port"] for other in one["calls"] if other in SERVICES}, name


def test_a_pod_may_call_exactly_the_stores_whose_credentials_it_has() -> None:
    for name, one in SERVICES.items():
        held = {store for secret, store in OF_THE_STORES.items() if secret in one["secrets"]}
        assert held == {store for store in one["calls"] if store in STORES}, name


def test_no_pod_reaches_more_than_its_container_in_compose() -> None:
    assert {name for name, one in SERVICES.items() if "seaweedfs" in one["calls"]} == on("objects")
    assert {name for name, one in SERVICES.items() if "postgres" in one["calls"]} == on("stores")
    assert {name for name, one in SERVICES.items() if one["internet"]} == on("egress") | on("edge")
    assert {name for name, one in SERVICES.items() if "public" in one} == on("edge")
    assert set(SERVICES) == on("services")
    for name, one in SERVICES.items():
        for other in one["calls"]:
            assert set(COMPOSE[name]["networks"]) & set(COMPOSE[other]["networks"]), f"{name} calls {other}"


def test_only_credentials_that_may_be_left_out_are_optional() -> None:
    text = (REPOSITORY / "infra" / "docker" / "new_env.py").read_text(encoding="utf-8")
    of_others = set(re.findall(r'"([a-z0-9_]+)"', text.partition("OF_OTHERS = (")[2].partition(")\n_SIZES")[0]))
    assert set(VALUES["secrets"]["optional"]) == of_others | {"admin_api_key", "neo4j_password"}


def test_a_pod_may_take_longer_to_end_than_its_process_does() -> None:
    for name, one in SERVICES.items():
        needed = float(one["environment"].get("WORKER_SHUTDOWN_SECONDS", UVICORN_SECONDS))
        assert one["grace"] > PRE_STOP_SECONDS + needed, name
        compose = COMPOSE[name].get("stop_grace_period", "10s")
        assert one["grace"] >= int(compose.removesuffix("s")) + PRE_STOP_SECONDS, name


def test_every_setting_is_used() -> None:
    used = {name for one in OURS.values() for name in one["settings"]}
    assert used == set(VALUES["settings"]) >= set(VALUES["trial"]["settings"])


def test_files_for_the_cluster_are_those_of_compose() -> None:
    places = {one.name: one.resolve() for one in (CHART / "files").iterdir()}
    assert places == {
        "rules.yml": REPOSITORY / "infra/prometheus/rules.yml",
        "pg_hba.conf": REPOSITORY / "infra/postgres/pg_hba.conf",
        "dashboards": REPOSITORY / "infra/grafana/dashboards",
    }


def test_the_chart_has_the_version_of_the_repository() -> None:
    version = (REPOSITORY / "VERSION").read_text(encoding="utf-8").strip()
    about = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert about["appVersion"] == version
    assert about["version"] == re.sub(r"(a|b|rc)", r"-\1", version), "as charts write 1.2.3rc1"
    assert "dependencies" not in about, "no subcharts"


def merged(values: Any, more: Any) -> Any:
    if not isinstance(values, dict) or not isinstance(more, dict):
        return more
    return {**values, **{key: merged(values.get(key), value) for key, value in more.items()}}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_valid(example: Any) -> None:
    more = yaml.safe_load(example.read_text(encoding="utf-8"))
    jsonschema.validate(merged(VALUES, more), SCHEMA)


def places(values: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yields the path of each mapping whose keys the schema knows."""
    free = {
        "annotations",
        "labels",
        "environment",
        "secrets",
        "peers",
        "ready",
        "users",
        "dns",
        "collectors",
        "internet",
        "from",
    }
    if isinstance(values, dict) and not (path and path[-1] in free and path != ("secrets",)):
        yield path
        for key, value in values.items():
            yield from places(value, (*path, key))


def test_a_misspelt_value_is_refused_anywhere() -> None:
    known = list(places(VALUES))
    assert len(known) > 50
    for path in known:
        more: dict[str, Any] = {"mispelt": "x"}
        for key in reversed(path):
            more = {key: more}
        with pytest.raises(jsonschema.ValidationError, match="mispelt"):
            jsonschema.validate(merged(VALUES, more), SCHEMA)
