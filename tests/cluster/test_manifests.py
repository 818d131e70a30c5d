"""What the cluster's API says of the chart before anything runs."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from cluster.kubernetes import CHART, RELEASE, Namespace, definitions, run

EXAMPLES = ("external", "trial", "everything")
KEDA = ("github.com/kedacore/keda/v2@v2.21.0", "config/crd/bases")
OF_PROMETHEUS = {"ServiceMonitor", "PrometheusRule"}


@pytest.fixture(scope="module")
def keda() -> bool:
    """Whether the cluster knows KEDA's objects."""
    found = [one for one in definitions(*KEDA) if one.name.endswith("_scaledobjects.yaml")]
    if found:
        run("kubectl", "apply", "--server-side", "--filename", str(found[0]))
        run("kubectl", "wait", "--for=condition=Established", "crd/scaledobjects.keda.sh", "--timeout=60s")
    return bool(found)


def manifests(namespace: Namespace, example: str, kinds: set[str] | None = None) -> str:
    """Returns the manifests of an example, of these kinds or of all but Prometheus' and KEDA's."""
    text = namespace.helm("template", RELEASE, str(CHART), "--values", str(CHART / "examples" / f"{example}.yaml"))
    found: list[dict[str, Any]] = [one for one in yaml.safe_load_all(text) if one]
    return yaml.safe_dump_all(
        one for one in found if (one["kind"] in kinds if kinds else one["kind"] not in OF_PROMETHEUS | {"ScaledObject"})
    )


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_api_accepts_every_manifest_without_a_warning(namespace: Namespace, example: str) -> None:
    dry = ("apply", "--dry-run=server", "--validate=strict", "--filename", "-")
    said = namespace.kubectl(*dry, "--warnings-as-errors", input=manifests(namespace, example))
    assert said.count("(server dry run)") > 35


def test_kedas_own_definition_accepts_the_scaling_of_workers_and_refuses_a_misspelt_one(
    namespace: Namespace, keda: bool
) -> None:
    if not keda:
        pytest.skip("KEDA's definitions cannot be had: they are in a Go module")
    dry = ("apply", "--dry-run=server", "--validate=strict", "--filename", "-")
    text = manifests(namespace, "everything", {"ScaledObject"})
    assert "scaledobject.keda.sh/ingestion-worker created (server dry run)" in namespace.kubectl(*dry, input=text)
    wrong = text.replace("maxReplicaCount", "maxReplicasCount")
    assert 'unknown field "spec.maxReplicasCount"' in namespace.kubectl(*dry, input=wrong, fails=True)
