"""A namespace on the cluster of KUBECONFIG, by `kubectl` and `helm`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from api_calls import REPOSITORY

CHART = REPOSITORY / "charts" / "attractor"
RELEASE = "attractor"
CLASS = "manual"  # of the volumes that the tests make
Manifest = dict[str, Any]


@dataclass(frozen=True)
class Namespace:
    """One namespace, in which `restricted` is enforced."""

    name: str

    def kubectl(self, *arguments: str, input: str | None = None, fails: bool = False) -> str:
        """Returns the output, both streams if the command is expected to fail. Raises AssertionError otherwise."""
        return run("kubectl", "--namespace", self.name, *arguments, input=input, fails=fails)

    def helm(self, *arguments: str, fails: bool = False) -> str:
        return run("helm", "--namespace", self.name, *arguments, fails=fails)

    def get(self, kind: str, *arguments: str) -> list[Manifest]:
        items: list[Manifest] = json.loads(self.kubectl("get", kind, "--output", "json", *arguments))["items"]
        return items

    def names(self, kind: str) -> set[str]:
        return {one["metadata"]["name"] for one in self.get(kind)}

    def address(self, service: str, port: str) -> str:
        """Returns a URL that works on a node, where the cluster's own addresses do."""
        found = json.loads(self.kubectl("get", "service", service, "--output", "json"))["spec"]
        [number] = [one["port"] for one in found["ports"] if one["name"] == port]
        return f"http://{found['clusterIP']}:{number}"

    def create(self) -> None:
        labels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}
        manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.name, "labels": labels}}
        run("kubectl", "apply", "--filename", "-", input=json.dumps(manifest))
        # Until a controller has made it, pods are refused.
        self.kubectl("wait", "--for=create", "serviceaccount/default", "--timeout=120s")


def run(*command: str, input: str | None = None, fails: bool = False) -> str:
    done = subprocess.run(command, input=input, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert (done.returncode != 0) is fails, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout + (done.stderr if fails else "")


def volumes(namespace: str, folder: Path, stores: dict[str, Any]) -> str:
    """Returns a volume for each store's claim: folders of this machine, with the group that `fsGroup` would set."""
    found = []
    for name, store in stores.items():
        place = folder / name
        place.mkdir()
        os.chown(place, 0, store["user"])
        place.chmod(0o2775)
        found.append(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": f"{namespace}-{name}"},
                "spec": {
                    "capacity": {"storage": store["data"]["size"]},
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": CLASS,
                    "claimRef": {"namespace": namespace, "name": f"data-{name}-0"},
                    "hostPath": {"path": str(place), "type": "Directory"},
                },
            }
        )
    return yaml.safe_dump_all(found)


def definitions(module: str, folder: str) -> list[Path]:
    """Returns the files of definitions in a Go module; none where Go or the module cannot be had."""
    if shutil.which("go") is None:
        return []
    done = subprocess.run(["go", "mod", "download", "-json", module], capture_output=True, text=True, check=False)
    place = json.loads(done.stdout or "{}").get("Dir")
    return sorted((Path(place) / folder).glob("*.yaml")) if place else []
