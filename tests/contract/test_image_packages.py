"""Images: each has the packages without which its service does not start."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements"
SERVICES = ("gateway", "ingestion", "knowledge-graph", "memory", "orchestrator", "retrieval")
START = """
import sys
from importlib import import_module

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

package, *absent = sys.argv[1:]
absent = set(absent)
sys.meta_path.insert(0, Absent())
import_module(f"{package}.app")
import_module("service_kit.serve")
"""


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_starts_with_the_packages_of_its_image(service: str) -> None:
    locked = (REQUIREMENTS / f"{service}.txt").read_text(encoding="utf-8")
    has = {_normal(name) for name in re.findall(r"^([\w.-]{1,100})(?:\[[\w,-]{1,100}\])?==", locked, re.MULTILINE)}
    absent = [
        module
        for module, owners in packages_distributions().items()
        if not any(one.startswith("attractor") or _normal(one) in has for one in owners)
    ]
    assert len(absent) > 100
    command = [sys.executable, "-c", START, service.replace("-", "_"), *absent]
    started = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert started.returncode == 0, started.stderr[-2000:]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
