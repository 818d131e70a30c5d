"""What `helm template` makes of each example: valid, confined, and with no network but that of the table."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import kubernetes_validate
import pytest
import yaml
from api_calls import REPOSITORY
from contract import chart
from contract.chart import CHART, COMPOSE, OURS, SERVICES, STORES, VALUES

from ingestion.api.internal import WORKERS_PATH

pytestmark = pytest.mark.skipif(
    shutil.which("helm") is None, reason="helm is not installed: infra/release/fetch_helm.py gets it"
)
EXAMPLES = ("external", "trial", "everything")
OF_OPERATORS = {"ServiceMonitor", "PrometheusRule", "ScaledObject"}  # their schemas are not Kubernetes' own
RELEASE = "attractor"
Manifest = dict[str, Any]


def helm(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["helm", *arguments], cwd=CHART, capture_output=True, text=True, check=False)


@cache
def rendered(example: str) -> list[Manifest]:
    done = helm("template", RELEASE, ".", "--namespace", "team", "--values", f"examples/{example}.yaml")
    assert done.returncode == 0, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def of(example: str, kind: str) -> dict[str, Manifest]:
    return {one["metadata"]["name"]: one for one in rendered(example) if one["kind"] == kind}


def pods(example: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for kind in ("Deployment", "StatefulSet", "Job"):
        for name, one in of(example, kind).items():
            yield name, one["spec"]["template"]


def containers(pod: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [*pod.get("initContainers", []), *pod["containers"]]


def test_the_chart_passes_helms_own_check() -> None:
    done = helm("lint", ".", "--strict", "--values", "examples/external.yaml")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_manifest_is_valid_for_kubernetes(example: str) -> None:
    known = [one for one in rendered(example) if one["kind"] not in OF_OPERATORS]
    assert len(known) > 35
    for one in known:
        kubernetes_validate.validate(one, "1.37", strict=True)
    names = [(one["kind"], one["metadata"]["name"]) for one in rendered(example)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_pod_satisfies_the_restricted_standard_and_cannot_write_its_image(example: str) -> None:
    for name, template in pods(example):
        pod = template["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["securityContext"]["runAsUser"] > 0, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert pod["automountServiceAccountToken"] is False, name
        assert not {"hostNetwork", "hostPID", "hostIPC", "hostUsers"} & set(pod), name
        allowed = {"emptyDir", "projected", "persistentVolumeClaim", "configMap"}
        assert {kind for volume in pod["volumes"] for kind in volume if kind != "name"} <= allowed, name
        for one in containers(pod):
            writes = one["name"] == "neo4j"  # as in Compose
            assert one["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": not writes,
                "capabilities": {"drop": ["ALL"]},
            }, (name, one["name"])
            assert one["resources"]["limits"].keys() == {"cpu", "memory"}, (name, one["name"])


def secret_files(pod: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for volume in pod["volumes"]:
        for source in volume.get("projected", {}).get("sources", []):
            assert source["secret"]["name"] == VALUES["secrets"]["name"]
            keys = {item["path"]: item["key"] for item in source["secret"]["items"]}
            optional = set(VALUES["secrets"]["optional"])
            assert all((key in optional) is source["secret"].get("optional", False) for key in keys.values())
            found |= keys
    return found


@pytest.mark.parametrize("name", SERVICES)
def test_a_rendered_pod_has_the_environment_and_secrets_of_compose(name: str) -> None:
    pod = of("trial", "Deployment")[name]["spec"]["template"]["spec"]
    for one in (one for one in containers(pod) if one["name"] in OURS):
        given = {variable["name"]: variable["value"] for variable in one["env"]}
        added = chart.ADDED.get(one["name"], set())
        expected = {key: value for key, value in chart.compose_environment(one["name"]).items() if value}
        expected.pop("SERVER_PROCESSES", None)  # a cluster has replicas
        keys = {"TOKEN_PUBLIC_KEYS"} & set(chart.compose_environment(one["name"]))  # Compose has no default
        assert {key: value for key, value in given.items() if key not in added | keys} == expected
        assert keys <= set(given)
    assert secret_files(pod) == chart.compose_secrets(name)
    mounts = {one["name"]: {mount["mountPath"] for mount in one["volumeMounts"]} for one in containers(pod)}
    assert [one for one, paths in mounts.items() if "/run/secrets" in paths] == [name]


def test_a_pod_waits_for_its_schema_with_its_own_role_and_only_migrations_are_administrators() -> None:
    for name, template in pods("trial"):
        held = set(secret_files(template["spec"]).values())
        assert ("admin_database_url" in held) is ("-migrate-" in name), name
    for name, one in of("trial", "Deployment").items():
        first = one["spec"]["template"]["spec"]["initContainers"][0]
        assert first["args"] == ["service_kit.wait_for_schema", name.replace("-worker", "").replace("-", "_")]
        assert [mount.get("subPath") for mount in first["volumeMounts"] if "secrets" in mount["name"]] == [
            "database_url"
        ]


def test_migrations_are_jobs_of_a_revision_and_nothing_is_a_hook() -> None:
    jobs = of("external", "Job")
    assert set(jobs) == {f"{name}-migrate-1" for name, one in SERVICES.items() if "migrate" in one}
    assert not [one for one in rendered("external") if "helm.sh/hook" in repr(one)]


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_network_lets_through_exactly_what_the_table_says(example: str) -> None:
    policies = of(example, "NetworkPolicy")
    everything = policies.pop("refuse-by-default")["spec"]
    assert not {"ingress", "egress"} & set(everything)
    components = {template["metadata"]["labels"]["app.kubernetes.io/component"] for _, template in pods(example)}
    for one in (*policies.values(), {"spec": everything}):
        assert one["spec"]["policyTypes"] == ["Ingress", "Egress"]
    for _, template in pods(example):
        assert everything["podSelector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    assert set(policies) == components
    inside = {**{name: one["port"] for name, one in SERVICES.items()}}
    inside |= {name: one["port"] for name, one in STORES.items()} if example == "trial" else {}
    calls = {(name, other) for name, one in SERVICES.items() for other in one["calls"]}
    calls |= {(f"{name}-migrate", "postgres") for name, one in SERVICES.items() if "migrate" in one}
    out = {(name, *peer) for name, one in policies.items() for peer in peers(one["spec"].get("egress") or [], "to")}
    into = {(*peer, name) for name, one in policies.items() for peer in peers(one["spec"].get("ingress") or [], "from")}
    assert out == {(name, other, inside[other]) for name, other in calls if other in inside}
    assert into == {(name, inside[other], other) for name, other in calls if other in inside}
    outside = {name for name, one in policies.items() if "ipBlock': {'cidr': '0.0.0.0/0'" in repr(one)}
    assert outside == {name for name in SERVICES if {"egress", "edge"} & set(COMPOSE[name]["networks"])}


def peers(rules: list[dict[str, Any]], way: str) -> Iterator[tuple[str, int]]:
    """Yields the pods of this release that rules name, with the port."""
    for rule in rules:
        for peer in rule.get(way, []):
            if "podSelector" in peer:
                [port] = rule["ports"]
                assert peer["podSelector"]["matchLabels"]["app.kubernetes.io/instance"] == RELEASE
                yield peer["podSelector"]["matchLabels"]["app.kubernetes.io/component"], port["port"]


def test_every_service_survives_a_drain_and_ends_after_its_callers_know() -> None:
    deployments, budgets = of("everything", "Deployment"), of("everything", "PodDisruptionBudget")
    assert set(deployments) == set(budgets) == set(SERVICES)
    for name, one in deployments.items():
        pod = one["spec"]["template"]["spec"]
        assert budgets[name]["spec"]["selector"] == one["spec"]["selector"]
        assert pod["topologySpreadConstraints"][0]["labelSelector"] == one["spec"]["selector"]
        [main] = pod["containers"]
        assert main["lifecycle"]["preStop"]["sleep"]["seconds"] < pod["terminationGracePeriodSeconds"]
        assert main["readinessProbe"]["httpGet"]["path"] == "/readyz"


def test_only_what_is_turned_on_is_there() -> None:
    optional = {"Ingress", "HorizontalPodAutoscaler", "ConfigMap", *OF_OPERATORS}
    assert not {one["kind"] for one in rendered("trial")} & optional - {"ConfigMap"}
    assert {one["kind"] for one in rendered("everything")} > optional
    scaled = set(of("everything", "HorizontalPodAutoscaler"))
    assert scaled == {"gateway", "orchestrator", "retrieval"}
    for name, one in of("everything", "Deployment").items():
        assert ("replicas" in one["spec"]) is (name not in scaled | {"ingestion-worker"})
    assert not of("external", "StatefulSet")
    assert set(of("trial", "StatefulSet")) == set(STORES)


def test_workers_are_scaled_by_what_ingestion_says_and_stay_while_it_says_nothing() -> None:
    scaled = of("everything", "ScaledObject")["ingestion-worker"]["spec"]
    assert scaled["scaleTargetRef"]["name"] in of("everything", "Deployment")
    [trigger] = scaled["triggers"]
    asked = urlsplit(trigger["metadata"]["url"])
    service = of("everything", "Service")[asked.netloc.partition(".")[0]]
    assert (asked.hostname, asked.port) == ("ingestion.team", service["spec"]["ports"][0]["port"])
    assert asked.path == WORKERS_PATH
    assert (trigger["metadata"]["targetValue"], trigger["metricType"]) == ("1", "AverageValue")
    assert scaled["fallback"]["behavior"] == "currentReplicasIfHigher"
    rules = of("everything", "NetworkPolicy")["ingestion"]["spec"]["ingress"]
    assert {"from": VALUES["worker"]["autoscaling"]["from"], "ports": [{"port": asked.port}]} in rules
    assert "keda" not in repr(of("trial", "NetworkPolicy"))


def test_alerts_and_dashboards_are_those_of_compose() -> None:
    rules = yaml.safe_load((REPOSITORY / "infra/prometheus/rules.yml").read_text(encoding="utf-8"))
    assert of("everything", "PrometheusRule")["attractor"]["spec"] == rules
    shown = of("everything", "ConfigMap")["attractor-dashboards"]["data"]
    folder = REPOSITORY / "infra" / "grafana" / "dashboards"
    assert shown == {one.name: one.read_text(encoding="utf-8") for one in folder.iterdir()}
    ports = {name: one["spec"]["ports"][0] for name, one in of("everything", "Service").items()}
    [endpoint] = of("everything", "ServiceMonitor")["attractor"]["spec"]["endpoints"]
    assert {name: (one["name"], one["port"]) for name, one in ports.items()} == {
        name: (endpoint["port"], one["port"]) for name, one in SERVICES.items()
    }


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("trail.enabled=true", "'trail' not allowed"),
        ("settings.CHAT_MODLE=large", "'CHAT_MODLE' not allowed"),
        ("services.gateway.replica=2", "'replica' not allowed"),
        ("ingress.enabled=true", "/ingress/tlsSecret"),
        ("settings.TOKEN_PUBLIC_KEYS=", "set settings.TOKEN_PUBLIC_KEYS"),
    ],
)
def test_an_installation_with_a_wrong_value_is_refused_and_told_which(change: str, reason: str) -> None:
    done = helm("template", RELEASE, ".", "--values", "examples/trial.yaml", "--set", change)
    assert done.returncode != 0
    assert reason in done.stderr
