"""The chart on a real cluster. ATTRACTOR_CLUSTER=node: this machine is its only node, and has the images of Compose;
ATTRACTOR_CLUSTER=api: it has an API and controllers, but no node."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from api_calls import REPOSITORY
from cluster.kubernetes import CHART, CLASS, RELEASE, Namespace, run, volumes

MODE = os.environ.get("ATTRACTOR_CLUSTER", "")
POSTGRES = os.environ.get("POSTGRES_IMAGE", "")  # an older one, as in Compose


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if MODE not in {"node", "api"}:
            item.add_marker(pytest.mark.skip(reason="needs a cluster: ATTRACTOR_CLUSTER=node or api"))
        elif missing := [tool for tool in ("helm", "kubectl") if shutil.which(tool) is None]:
            item.add_marker(pytest.mark.skip(reason=f"needs {' and '.join(missing)}"))
        elif MODE == "api" and item.get_closest_marker("node"):
            item.add_marker(pytest.mark.skip(reason="needs a node, and the cluster has none"))


@pytest.fixture(scope="session")
def namespace() -> Iterator[Namespace]:
    """A namespace with the secrets of .env, as the guide says."""
    made = Namespace(f"attractor-{os.getpid()}")
    made.create()
    made.kubectl("create", "secret", "generic", "attractor", "--from-file=.secrets")
    yield made
    run("kubectl", "delete", "namespace", made.name, "--wait=false")


@pytest.fixture(scope="session")
def values(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The values of a trial with the images that Compose built."""
    keys = re.search(r"^TOKEN_PUBLIC_KEYS=(.*)$", (REPOSITORY / ".env").read_text(encoding="utf-8"), re.MULTILINE)
    assert keys is not None, "run make env"
    more: dict[str, Any] = {
        "image": {"tag": os.environ.get("ATTRACTOR_TAG", "local")},
        "settings": {"TOKEN_PUBLIC_KEYS": keys[1], "RATE_LIMIT_PER_MINUTE": "0"},
        "trial": {"storageClass": CLASS, "stores": stores()},
    }
    path = tmp_path_factory.mktemp("values") / "cluster.yaml"
    path.write_text(yaml.safe_dump(more), encoding="utf-8")
    return path


def stores() -> dict[str, Any]:
    """Returns what is different with another image of PostgreSQL: its user, and where its data is below the volume."""
    if not POSTGRES or MODE == "api":  # nothing runs there
        return {}
    user = int(run("docker", "run", "--rm", "--entrypoint", "id", POSTGRES, "-u", "postgres"))
    place = {"PGDATA": "/var/lib/postgresql/cluster/data"}
    return {"postgres": {"image": POSTGRES, "user": user, "environment": place}}


@pytest.fixture(scope="session")
def trial(namespace: Namespace, values: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Installs a trial and, on a node, waits until it is ready; yields the options that `helm upgrade` needs."""
    table: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))["trial"]["stores"]
    for name, more in stores().items():
        table[name] |= more
    run("kubectl", "apply", "--filename", "-", input=volumes(namespace.name, tmp_path_factory.mktemp("data"), table))
    options = [RELEASE, str(CHART), "--values", str(CHART / "examples" / "trial.yaml"), "--values", str(values)]
    namespace.helm("install", *options, *(("--wait", "--timeout", "420s") if MODE == "node" else ()))
    yield options
    run("kubectl", "delete", "persistentvolume", *(f"{namespace.name}-{name}" for name in table), "--wait=false")
