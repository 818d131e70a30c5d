"""`make pin`: Compose uses each image by its digest, even if the tag moves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from api_calls import REPOSITORY

EXAMPLE = (REPOSITORY / ".env.example").read_text(encoding="utf-8")
NAMES = {"POSTGRES_IMAGE", "REDIS_IMAGE", "NEO4J_IMAGE", "SEAWEEDFS_IMAGE", "PYTHON_IMAGE"}
NAMES |= {"PROMETHEUS_IMAGE", "ALERTMANAGER_IMAGE", "GRAFANA_IMAGE"}
NAMES |= {"POSTGRES_EXPORTER_IMAGE", "REDIS_EXPORTER_IMAGE", "JAEGER_IMAGE"}
# Responds like Docker 28; `known.json` lists the digests in the registry.
DOCKER = """#!{python}
import json, pathlib, sys
known = json.loads(pathlib.Path(__file__).with_name("known.json").read_text())
image = sys.argv[-1]
if sys.argv[1:3] == ["pull", "--quiet"]:
    if image not in known:
        sys.exit(f"Error response from daemon: manifest for {{image}} not found")
    print(image)
elif sys.argv[1:5] == ["image", "inspect", "--format", "{{{{json .RepoDigests}}}}"]:
    print(json.dumps(known[image]))
else:
    sys.exit(f"unknown: {{sys.argv}}")
"""


class Deployment:
    """A checkout with an .env and its own registry."""

    def __init__(self, folder: Path) -> None:
        self.env, self.programs = folder / ".env", folder / "bin"
        self.programs.mkdir()
        (folder / "compose.yaml").symlink_to(REPOSITORY / "compose.yaml")
        (self.programs / "docker").write_text(DOCKER.format(python=sys.executable), encoding="utf-8")
        (self.programs / "docker").chmod(0o755)
        self.folder = folder

    def pin(self, known: dict[str, list[str]]) -> subprocess.CompletedProcess[str]:
        (self.programs / "known.json").write_text(json.dumps(known), encoding="utf-8")
        program = "import pathlib, sys, pin_images; sys.exit(pin_images.main(pathlib.Path(sys.argv[1])))"
        environment = {"PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}"}
        return subprocess.run(
            [sys.executable, "-c", program, str(self.folder)],
            cwd=REPOSITORY / "infra" / "docker",
            env=environment | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(REPOSITORY / "infra" / "docker")},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def deployment(tmp_path: Path) -> Deployment:
    return Deployment(tmp_path)


def registry(number: int, **other: str) -> dict[str, list[str]]:
    images = {
        "postgres": "pgvector/pgvector:pg18",
        "redis": "redis:8",
        "neo4j": "neo4j:5",
        "seaweedfs": "chrislusf/seaweedfs:4.48",
        "python": "python:3.11-slim",
        "prometheus": "prom/prometheus:v3.16.0",
        "alertmanager": "prom/alertmanager:v0.28.1",
        "grafana": "grafana/grafana:13.0.0",
        "postgres-exporter": "prometheuscommunity/postgres-exporter:v0.17.1",
        "redis-exporter": "oliver006/redis_exporter:v1.69.0",
        "jaeger": "jaegertracing/jaeger:2.13.0",
    } | other
    mirror = "mirror.example.org:5000/library/other"
    return {
        image: [f"{mirror}@sha256:{'f' * 64}", f"{image.rpartition(':')[0]}@sha256:{str(number) * 64}"]
        for image in images.values()
    }


def values(env: Path) -> dict[str, str]:
    lines = [line.partition("=") for line in env.read_text(encoding="utf-8").splitlines()]
    return {name: value for name, _, value in lines if name in NAMES}


def test_every_image_gets_a_digest_beside_its_tag(deployment: Deployment) -> None:
    deployment.env.write_text(EXAMPLE, encoding="utf-8")
    done = deployment.pin(registry(1))
    assert done.returncode == 0, done.stderr
    assert values(deployment.env) == {
        "POSTGRES_IMAGE": f"pgvector/pgvector:pg18@sha256:{'1' * 64}",
        "REDIS_IMAGE": f"redis:8@sha256:{'1' * 64}",
        "NEO4J_IMAGE": f"neo4j:5@sha256:{'1' * 64}",
        "SEAWEEDFS_IMAGE": f"chrislusf/seaweedfs:4.48@sha256:{'1' * 64}",
        "PYTHON_IMAGE": f"python:3.11-slim@sha256:{'1' * 64}",
        "PROMETHEUS_IMAGE": f"prom/prometheus:v3.16.0@sha256:{'1' * 64}",
        "ALERTMANAGER_IMAGE": f"prom/alertmanager:v0.28.1@sha256:{'1' * 64}",
        "GRAFANA_IMAGE": f"grafana/grafana:13.0.0@sha256:{'1' * 64}",
        "POSTGRES_EXPORTER_IMAGE": f"prometheuscommunity/postgres-exporter:v0.17.1@sha256:{'1' * 64}",
        "REDIS_EXPORTER_IMAGE": f"oliver006/redis_exporter:v1.69.0@sha256:{'1' * 64}",
        "JAEGER_IMAGE": f"jaegertracing/jaeger:2.13.0@sha256:{'1' * 64}",
    }
    assert deployment.env.read_text(encoding="utf-8").startswith(EXAMPLE), "all else stays"


def test_pinning_again_updates_the_digest_to_that_of_the_tag(deployment: Deployment) -> None:
    own = "registry.example.org:5000/mine/redis:8.2"
    deployment.env.write_text(f"REDIS_IMAGE={own}@sha256:{'1' * 64}\nLOG_LEVEL=INFO\n", encoding="utf-8")
    assert deployment.pin(registry(2, redis=own)).returncode == 0
    assert values(deployment.env)["REDIS_IMAGE"] == f"{own}@sha256:{'2' * 64}"
    assert "LOG_LEVEL=INFO\n" in deployment.env.read_text(encoding="utf-8")


@pytest.mark.parametrize("digests", [None, []])
def test_an_image_unknown_to_its_registry_changes_nothing(deployment: Deployment, digests: list[str] | None) -> None:
    deployment.env.write_text("REDIS_IMAGE=redis:8\n", encoding="utf-8")
    known = registry(1)
    del known["redis:8"]
    done = deployment.pin(known if digests is None else {**known, "redis:8": digests})
    assert done.returncode == 1
    assert "redis:8" in done.stderr
    assert deployment.env.read_text(encoding="utf-8") == "REDIS_IMAGE=redis:8\n"
